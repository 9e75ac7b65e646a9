# What `cmake --install` puts where: public headers, libcsaw, the csaw program, the engine's headers that
# csaw_add_sampler and csaw_add_reducer compile files against, a CMake package and a pkg-config file. Nothing holds the prefix, so an
# installed tree may be moved.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/csaw)
set(engine_dir ${CMAKE_INSTALL_DATADIR}/csaw/engine)

file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
if(TARGET csaw_cli)
  set_target_properties(csaw_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
  install(TARGETS csaw_cli)
endif()
install(TARGETS csaw EXPORT csawTargets)
install(DIRECTORY include/csaw DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(folder runtime/base partition samplers/select spmm runtime/engine)
  install(DIRECTORY ${folder}/ DESTINATION ${engine_dir}/${folder}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
endforeach()

install(EXPORT csawTargets NAMESPACE csaw:: DESTINATION ${package_dir})
configure_package_config_file(cmake/csawConfig.cmake.in csawConfig.cmake INSTALL_DESTINATION ${package_dir}
                              PATH_VARS engine_dir NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(csawConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/csawConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/csawConfigVersion.cmake
              cmake/csaw_add_sampler.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH prefix_to_lib ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH prefix_to_include ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/csaw.pc.in csaw.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/csaw.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
