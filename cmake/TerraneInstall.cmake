# What an installation holds: the library with its header, the command with its manual pages, the examples, and the
# files by which CMake and pkg-config find it all. Nothing in it names the build folder or the place of installation,
# so that a staged tree may be moved.
include(CMakePackageConfigHelpers)

set(TERRANE_EXAMPLES_DIR ${CMAKE_INSTALL_LIBDIR}/terrane/examples)
set(TERRANE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/terrane)
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

set_target_properties(libterrane libterrane_shmem libterrane_chunks PROPERTIES INSTALL_RPATH "$ORIGIN")
# A wheel has libraries of others beside Terrane's.
file(RELATIVE_PATH bin_to_libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(terrane PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_libraries}")
# Programs of other projects find the libraries without LD_LIBRARY_PATH, also after their own installation.
foreach(library libterrane libterrane_shmem libterrane_chunks)
  target_link_options(${library} INTERFACE "$<INSTALL_INTERFACE:-Wl,-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>")
endforeach()
install(TARGETS libterrane_runtime libterrane libterrane_shmem libterrane_chunks EXPORT TerraneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET libterrane_threads)
  set_target_properties(libterrane_threads PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS libterrane_threads LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
  # Apart from the other libraries: it has the name of the compiler's own.
  install(TARGETS libterrane_omp terrane_libomp_so terrane_libomp_so_5 terrane_libiomp5_so LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/terrane/omp NAMELINK_SKIP)
  install(TARGETS terrane_map ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/terrane/omp)
  install(FILES src/frontend/omp/map/omni.awk DESTINATION ${CMAKE_INSTALL_LIBDIR}/terrane/omp)
  if(TARGET terrane_flush)
    install(TARGETS terrane_flush ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/terrane/omp)
    install(PROGRAMS src/frontend/omp/flush/as.sh DESTINATION ${CMAKE_INSTALL_LIBDIR}/terrane/omp/as RENAME as)
  endif()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.inc")
install(FILES share/terrane/anl.m4 share/terrane/gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/terrane)
foreach(system lua tcl)
  configure_file(cmake/modulefile.${system}.in ${PROJECT_BINARY_DIR}/package/modulefile.${system} @ONLY)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/package/modulefile.lua RENAME ${PROJECT_VERSION}.lua
        DESTINATION ${CMAKE_INSTALL_DATADIR}/terrane/modulefiles/terrane)
install(FILES ${PROJECT_BINARY_DIR}/package/modulefile.tcl RENAME ${PROJECT_VERSION}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/terrane/modulefiles/terrane)
# What `terrane doctor` says about where it comes from.
set(TERRANE_INSTALLED_BY "" CACHE STRING "What installs Terrane, if a package manager does: Debian package")
if(TERRANE_INSTALLED_BY)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/installed_by CONTENT "@TERRANE_INSTALLED_BY@\n" @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/installed_by DESTINATION ${CMAKE_INSTALL_DATADIR}/terrane)
endif()

include(TerraneWrappers)

# Builds what is installed, and no test.
add_custom_target(terrane_installed DEPENDS libterrane_runtime libterrane libterrane_shmem libterrane_chunks terrane test_hosts enter_host)
foreach(target terrane_manual terrane_fortran libterrane_threads libterrane_omp terrane_map terrane_flush)
  if(TARGET ${target})
    add_dependencies(terrane_installed ${target})
  endif()
endforeach()
foreach(example counter restore lu hybrid)
  if(TARGET ${example})
    install(TARGETS ${example} DESTINATION ${TERRANE_EXAMPLES_DIR})
    set_target_properties(${example} PROPERTIES INSTALL_RPATH "$ORIGIN/../..")
    add_dependencies(terrane_installed ${example})
  endif()
endforeach()
foreach(example hello ring heat histogram sort matmul)
  if(TARGET shmem_example_${example})
    install(TARGETS shmem_example_${example} DESTINATION ${TERRANE_EXAMPLES_DIR}/shmem)
    set_target_properties(shmem_example_${example} PROPERTIES INSTALL_RPATH "$ORIGIN/../../..")
    add_dependencies(terrane_installed shmem_example_${example})
  endif()
endforeach()
foreach(example barnes fft lu ocean radix water_nsquared water_spatial)
  install(TARGETS splash_${example} DESTINATION ${TERRANE_EXAMPLES_DIR}/splash)
  add_dependencies(terrane_installed splash_${example})
endforeach()

foreach(example blackboard queue pipeline workers)
  if(TARGET chunks_example_${example})
    install(TARGETS chunks_example_${example} DESTINATION ${TERRANE_EXAMPLES_DIR}/chunks)
    set_target_properties(chunks_example_${example} PROPERTIES INSTALL_RPATH "$ORIGIN/../../..")
    add_dependencies(terrane_installed chunks_example_${example})
  endif()
endforeach()

install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES examples/counter/counter.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY examples/shmem DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        FILES_MATCHING PATTERN "*.c" PATTERN "*.f90" PATTERN "*.h" PATTERN "README.md")
install(DIRECTORY examples/splash DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "README.md")
install(DIRECTORY examples/chunks DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        FILES_MATCHING PATTERN "*.cpp" PATTERN "README.md")
install(DIRECTORY examples/hello_cmake DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

install(EXPORT TerraneTargets NAMESPACE Terrane:: DESTINATION ${TERRANE_CMAKE_DIR})
configure_package_config_file(cmake/TerraneConfig.cmake.in ${PROJECT_BINARY_DIR}/package/TerraneConfig.cmake
                              INSTALL_DESTINATION ${TERRANE_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/TerraneConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
foreach(package terrane shmem terrane-chunks)
  configure_file(cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/package/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/package/TerraneConfig.cmake ${PROJECT_BINARY_DIR}/package/TerraneConfigVersion.cmake
        DESTINATION ${TERRANE_CMAKE_DIR})
