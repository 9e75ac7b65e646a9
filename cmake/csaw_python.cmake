# csaw_python_that_imports(OUT MODULE...): the first Python that has these modules, "" if there is none. python3 on PATH may
# be one without, beside the system's that has them.
set(CSAW_PYTHON "" CACHE FILEPATH "Python that the tests run with; needs NumPy and pytest, of some tests SciPy")
function(csaw_python_that_imports out)
  list(JOIN ARGN ", " modules)
  foreach(candidate IN LISTS CSAW_PYTHON ITEMS python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import sys, ${modules}; assert sys.version_info >= (3, 9); print(sys.executable)"
                    OUTPUT_VARIABLE found RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
      set(${out} ${found} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()
