# SPDX-License-Identifier: MIT
# cmake -D LIBRARY=libcsaw.so -D NM=nm -P visibility.cmake: the shared library exports csaw_ names and nothing else.
# (.gomp_ are locks that gcc makes for OpenMP).
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
set(count 0)
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^.* " "" name "${line}")
  math(EXPR count "${count} + 1")
  if(NOT name MATCHES "^csaw_[a-z]" AND NOT name MATCHES "^\\.gomp")
    message(SEND_ERROR "${LIBRARY} exports ${name}; make it static, or call it csaw__ and leave CSAW_API off")
  endif()
endforeach()
if(count LESS 20)
  message(SEND_ERROR "${LIBRARY} exports only ${count} names; is it the right file?")
endif()
message(STATUS "${count} exported names, all csaw_")
