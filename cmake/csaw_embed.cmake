# csaw_embed(target): the headers that a sampler or reducer compiled at run time needs, as bytes inside the library, so that an
# installed libcsaw carries what it was built with. As a script (cmake -P) this file writes the C file with the bytes.
set(csaw_embedded_headers
  include/csaw/descriptor.h include/csaw/math.h include/csaw/matrix.h include/csaw/philox.h include/csaw/reducer.h include/csaw/sampler.h include/csaw/types.h
  runtime/base/arc_filter.h runtime/base/degree_classes.h
  runtime/base/frontier.h runtime/base/job.h runtime/base/mass.h runtime/base/mass_tree.h runtime/base/search_row.h
  runtime/base/row_place.h runtime/base/site.h
  runtime/base/vertex_set.h
  samplers/select/alias.h samplers/select/bias.h samplers/select/choice.h samplers/select/its.h samplers/select/reject.h samplers/select/uniform.h
  samplers/select/race.h samplers/select/rounds.h samplers/select/row_choice.h samplers/select/row_picks.h samplers/select/scan_thread.cuh samplers/select/shuffle.h
  samplers/select/scan_warp.cuh
  runtime/engine/step.h runtime/engine/step_numbers.h
  runtime/engine/expand.h runtime/engine/expand_drawn.h runtime/engine/host_kernels.h runtime/engine/device_expand.cuh runtime/engine/device_kernels.cuh
  runtime/engine/device_alone.cuh runtime/engine/device_alone_layer.cuh runtime/engine/device_alone_room.cuh runtime/engine/device_each.cuh runtime/engine/device_hubs.cuh runtime/engine/device_last.cuh runtime/engine/device_layer.cuh
  runtime/engine/device_lists.cuh runtime/engine/device_parts.cuh partition/owner.h runtime/engine/device_select.cuh runtime/engine/device_tabulate.cuh
  samplers/select/arc_mass.cuh samplers/select/choose_team.cuh samplers/select/pick_block.cuh samplers/select/pick_group.cuh
  samplers/select/pick_rest.cuh samplers/select/pick_team.cuh
  samplers/select/race_team.cuh samplers/select/row_runs.cuh samplers/select/row_sums.cuh samplers/select/stored_sums.cuh
  samplers/select/shuffle_team.cuh samplers/select/team.cuh
  spmm/device_arguments.h spmm/device_element.cuh spmm/device_in_order.cuh spmm/device_reducer.cuh spmm/device_slice.cuh spmm/device_walk.cuh)

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_path(GET CMAKE_SCRIPT_MODE_FILE PARENT_PATH root)
  cmake_path(GET root PARENT_PATH root)
  set(arrays "")
  set(table "")
  set(number 0)
  foreach(header IN LISTS csaw_embedded_headers)
    file(READ ${root}/${header} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "^include/" "" name ${header})
    string(APPEND arrays "static const unsigned char header_${number}[] = {\n${bytes}0x00};\n")
    string(APPEND table "    {\"${name}\", (const char *)header_${number}, sizeof header_${number} - 1},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(WRITE ${OUTPUT} "/* written by cmake/csaw_embed.cmake */\n#include \"runtime/engine/headers.h\"\n\n"
       "${arrays}\nconst csaw__header csaw__headers[] = {\n${table}    {0, 0, 0}};\n")
  return()
endif()

function(csaw_embed target)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/csaw_headers.c)
  list(TRANSFORM csaw_embedded_headers PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE headers)
  set(script ${PROJECT_SOURCE_DIR}/cmake/csaw_embed.cmake)
  add_custom_command(OUTPUT ${output} DEPENDS ${headers} ${script} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -P ${script})
  target_sources(${target} PRIVATE ${output})
endfunction()
