# csaw_embed(target): the headers that a sampler compiled at run time needs, as strings inside the library.
function(csaw_embed target)
endfunction()
