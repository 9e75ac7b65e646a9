# csaw_add_sampler(target file.c ...): compile sampler files into a target. Each file becomes two small ones that include
# it and then the engine's header, once for the CPU and, where the project builds CUDA, once for the GPU. In your program:
#   CSAW_DECLARE_SAMPLER(my_sampler);
function(csaw_add_sampler target)
  get_target_property(root csaw_objects SOURCE_DIR)
  foreach(file IN LISTS ARGN)
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME_WE)
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/csaw_samplers/${target}/${name})
    file(CONFIGURE OUTPUT ${wrapper}.host.c CONTENT
         "#include \"${file}\"\n#include \"runtime/engine/host_kernels.h\"\n")
    target_sources(${target} PRIVATE ${wrapper}.host.c)
    target_include_directories(${target} PRIVATE ${root} ${root}/include)
    set_property(SOURCE ${wrapper}.host.c TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off)
    if(CSAW_CUDA)
      file(CONFIGURE OUTPUT ${wrapper}.device.cu CONTENT
           "#include \"${file}\"\n#include \"runtime/engine/device_kernels.cuh\"\n")
      target_sources(${target} PRIVATE ${wrapper}.device.cu)
      set_property(SOURCE ${wrapper}.host.c TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_DEFINITIONS CSAW__WITH_DEVICE)
      set_property(SOURCE ${wrapper}.device.cu TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
                   --fmad=false --ftz=false --prec-div=true --prec-sqrt=true)
    endif()
  endforeach()
endfunction()
