# csaw_warnings(target): the warnings that every file of the project compiles without.
function(csaw_warnings target)
  # The law of a sampler is stated in IEEE arithmetic: no contraction of a * b + c.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-ffp-contract=off>
                                           $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-Wall,-Wextra>)
  if(NOT CSAW_OPENMP)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wno-unknown-pragmas>)
  endif()
  if(CSAW_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>
                                             $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=-Werror>)
  endif()
endfunction()
