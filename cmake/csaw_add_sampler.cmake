# csaw_add_sampler(target file.c ...), csaw_add_reducer(target file.c ...): compile sampler or reducer files into a target.
# Each file becomes two small ones that include it and then csaw's own header, once for the CPU and, where both csaw and
# the project build CUDA, once for the GPU. Works inside csaw's build and, after find_package(csaw), in yours. In your
# program:
#   CSAW_DECLARE_SAMPLER(my_sampler);
#   CSAW_DECLARE_REDUCER(my_reducer);
function(csaw_add_sampler target)
  csaw__add_files(${target} csaw_samplers "#include \"runtime/engine/host_kernels.h\"\n" runtime/engine/device_kernels.cuh ${ARGN})
endfunction()

function(csaw_add_reducer target)
  csaw__add_files(${target} csaw_reducers "" spmm/device_reducer_launch.cuh ${ARGN})
endfunction()

# folder: of the build, for the small files; host: lines after the CPU's; device: header after the GPU's
function(csaw__add_files target folder host device)
  get_target_property(engine csaw::csaw CSAW_ENGINE_DIR)
  get_target_property(with_cuda csaw::csaw CSAW_ENGINE_CUDA)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(headers ${engine} $<TARGET_PROPERTY:csaw::csaw,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_features(${target} PRIVATE c_std_11)

  foreach(file IN LISTS ARGN)
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME_WE)
    string(MD5 place ${file}) # files of one name in several folders
    string(SUBSTRING ${place} 0 8 place)
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${folder}/${target}/${name}-${place})
    file(CONFIGURE OUTPUT ${wrapper}.host.c CONTENT "#include \"${file}\"\n${host}")
    target_sources(${target} PRIVATE ${wrapper}.host.c)
    set_property(SOURCE ${wrapper}.host.c TARGET_DIRECTORY ${target} APPEND PROPERTY INCLUDE_DIRECTORIES ${headers})
    set_property(SOURCE ${wrapper}.host.c TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS -fno-fast-math -ffp-contract=off)
    set_property(SOURCE ${wrapper}.host.c TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)

    if(with_cuda AND "CUDA" IN_LIST languages)
      file(CONFIGURE OUTPUT ${wrapper}.device.cu CONTENT "#include \"${file}\"\n#include \"${device}\"\n")
      target_sources(${target} PRIVATE ${wrapper}.device.cu)
      get_target_property(standard ${target} CUDA_STANDARD)
      if(NOT standard OR standard LESS 20) # designated initialisers
        set_target_properties(${target} PROPERTIES CUDA_STANDARD 20)
      endif()
      set_property(SOURCE ${wrapper}.host.c TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_DEFINITIONS CSAW__WITH_DEVICE)
      set_property(SOURCE ${wrapper}.device.cu TARGET_DIRECTORY ${target} APPEND PROPERTY INCLUDE_DIRECTORIES ${headers})
      set_property(SOURCE ${wrapper}.device.cu TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
                   --fmad=false --ftz=false --prec-div=true --prec-sqrt=true -Xcompiler=-Wno-missing-field-initializers)
    endif()
  endforeach()
endfunction()
