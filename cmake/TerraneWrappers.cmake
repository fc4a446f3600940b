# The compiler wrappers oshcc, oshc++ and oshfort, made of one script (src/tools/wrappers/compiler_wrapper.sh.in). Each
# calls the compiler of that language that a machine usually has, not the one that built Terrane.
function(terrane_wrapper WRAPPER WRAPPER_LANGUAGE WRAPPER_VARIABLE WRAPPER_COMPILER WRAPPER_COMPILE)
  configure_file(src/tools/wrappers/compiler_wrapper.sh.in ${PROJECT_BINARY_DIR}/package/${WRAPPER} @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/package/${WRAPPER} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

terrane_wrapper(oshcc C OSHCC_CC cc "")
terrane_wrapper(oshc++ C++ OSHCXX_CXX c++ "")
