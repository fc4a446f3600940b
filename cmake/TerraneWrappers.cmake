# The compiler wrappers terranecc, terranec++, oshcc, oshc++ and oshfort, made of one script
# (src/tools/wrappers/compiler_wrapper.sh.in). Each calls the compiler of that language that a machine usually has, not
# the one that built Terrane. WRAPPER_PACKAGE is Debian's package of it, WRAPPER_COMPILE what else is given where it
# compiles, after the command WRAPPER_PREPARE, which is in the file FUNCTIONS. PAGES: not for OpenSHMEM, but for
# programs of any interface.
function(terrane_wrapper WRAPPER WRAPPER_LANGUAGE WRAPPER_VARIABLE WRAPPER_COMPILER WRAPPER_PACKAGE)
  cmake_parse_arguments(WRAPPER "PAGES" "FUNCTIONS;PREPARE;COMPILE" "" ${ARGN})
  if(WRAPPER_FUNCTIONS)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WRAPPER_FUNCTIONS})
    file(READ ${WRAPPER_FUNCTIONS} WRAPPER_FUNCTIONS)
  else()
    set(WRAPPER_PREPARE :)
  endif()
  if(WRAPPER_PAGES)
    set(WRAPPER_PROGRAMS Terrane)
    set(WRAPPER_STANDARD "")
    set(WRAPPER_LIBRARIES "terrane terrane_chunks terrane_shmem")
    set(WRAPPER_LINK
        "-Wl,--push-state,--as-needed -lterrane -lterrane_chunks -lterrane_shmem -Wl,--pop-state")
  else()
    set(WRAPPER_PROGRAMS OpenSHMEM)
    set(WRAPPER_STANDARD ", OpenSHMEM 1.6")
    set(WRAPPER_LIBRARIES terrane_shmem)
    set(WRAPPER_LINK "-lterrane_shmem -lm")
  endif()
  configure_file(src/tools/wrappers/compiler_wrapper.sh.in ${PROJECT_BINARY_DIR}/package/${WRAPPER} @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/package/${WRAPPER} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

terrane_wrapper(terranecc C TERRANECC_CC cc gcc PAGES)
terrane_wrapper(terranec++ C++ TERRANECXX_CXX c++ g++ PAGES)
terrane_wrapper(oshcc C OSHCC_CC cc gcc)
terrane_wrapper(oshc++ C++ OSHCXX_CXX c++ g++)
terrane_wrapper(oshfort Fortran OSHFORT_FC gfortran gfortran FUNCTIONS src/tools/wrappers/fortran_module.sh
                PREPARE find_module COMPILE " \"-I$module\"")

# Compilers with the flags of OpenMP programs for several nodes: terrane-gcc, terrane-g++ and terrane-gfortran.
function(terrane_omp_wrapper WRAPPER WRAPPER_VARIABLE WRAPPER_COMPILER)
  configure_file(src/tools/wrappers/omp_wrapper.sh.in ${PROJECT_BINARY_DIR}/package/${WRAPPER} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/package/${WRAPPER} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

terrane_omp_wrapper(terrane-gcc TERRANE_CC gcc)
terrane_omp_wrapper(terrane-g++ TERRANE_CXX g++)
terrane_omp_wrapper(terrane-gfortran TERRANE_FC gfortran)
