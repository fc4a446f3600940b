# The flags that every target carries, and one function for the shape that every folder has: a library made of
# the folder's sources, and a test program made of the *_test.cpp beside them.

add_library(terrane_flags INTERFACE)
target_compile_options(terrane_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
# Messages name sources from the project's folder on: an installed library does not tell where it was built.
target_compile_options(terrane_flags INTERFACE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(TERRANE_WERROR)
  target_compile_options(terrane_flags INTERFACE -Werror)
endif()
target_include_directories(terrane_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(terrane_flags INTERFACE _GNU_SOURCE TERRANE_VERSION="${PROJECT_VERSION}")
if(TERRANE_SANITIZE)
  add_compile_options(-fsanitize=${TERRANE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TERRANE_SANITIZE})
  if(TERRANE_SANITIZE MATCHES thread)
    # Fences order what other processes see; ThreadSanitizer, which gcc says cannot see fences, knows of one process only.
    add_compile_options(-Wno-tsan)
  endif()
  # gcc 12 takes parts of <regex> for uninitialized where AddressSanitizer is on (GCC bug 105562).
  target_compile_options(terrane_flags INTERFACE -Wno-error=maybe-uninitialized)
  add_library(terrane_sanitizer_defaults OBJECT ${CMAKE_SOURCE_DIR}/tests/sanitize/defaults.cpp)
  # Programs in C are linked with it, too, and without the C++ library.
  target_compile_options(terrane_sanitizer_defaults PRIVATE -fno-exceptions)
  link_libraries($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:terrane_sanitizer_defaults>>)
endif()

if(TERRANE_TRAP)
  # Without a runtime library: a report of its own would allocate in signal handlers and in front of the C library.
  add_compile_options(-fsanitize=undefined -fno-sanitize=vptr -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer)
endif()

if(TERRANE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TERRANE_FUZZ: libFuzzer is clang's; give -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang")
  endif()
  set(fuzz_flags -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # A fold over no members leaves a capture unused; gcc, which the build is made for, does not mind.
  add_compile_options(${fuzz_flags})
  add_link_options(${fuzz_flags})
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 17)
    # It has coroutines, but does not say so in the way that the library's header asks for.
    add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:__cpp_impl_coroutine=201902L>)
  endif()
endif()

# One program's main and GoogleTest's headers, compiled once for all test programs.
if(TERRANE_TESTS)
  # A program, so that it is compiled with the flags of programs, as the header has to be.
  file(CONFIGURE OUTPUT gtest_headers.cpp CONTENT "int main() { return 0; }\n")
  add_executable(terrane_test_headers ${CMAKE_BINARY_DIR}/gtest_headers.cpp)
  target_link_libraries(terrane_test_headers PRIVATE GTest::gtest fmt::fmt terrane_flags)
  target_precompile_headers(terrane_test_headers PRIVATE <gtest/gtest.h>)
endif()

# The programs of the unit tests, and what the tests of the house rules look at.
if(TERRANE_TESTS)
  add_custom_target(terrane_unit_tests)
endif()

# terrane_test(NAME LABEL FILES... LINK libraries...): a GoogleTest program whose tests carry the label.
function(terrane_test name label)
  cmake_parse_arguments(ARG "" "TIMEOUT" "FILES;LINK" ${ARGN})
  if(NOT TERRANE_TESTS OR NOT ARG_FILES)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_FILES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} fmt::fmt GTest::gtest GTest::gtest_main terrane_flags)
  target_precompile_headers(${name} REUSE_FROM terrane_test_headers)
  if(label STREQUAL unit)
    add_dependencies(terrane_unit_tests ${name})
  endif()
  gtest_discover_tests(${name} PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT} DISCOVERY_TIMEOUT 60)
endfunction()

# terrane_folder(NAME [WITHOUT FOLDER] LINK libraries...): library terrane_NAME of this folder's *.cpp, tests of its
# *_test.cpp; without those whose path begins as the regular expression says: of a folder in it that is a library of its own.
function(terrane_folder name)
  cmake_parse_arguments(ARG "" "LABEL;WITHOUT" "LINK" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(ARG_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${ARG_WITHOUT}")
  endif()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  if(sources)
    add_library(terrane_${name} STATIC ${sources})
    target_link_libraries(terrane_${name} PUBLIC ${ARG_LINK} PRIVATE terrane_flags)
    set_target_properties(terrane_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden)
  else()
    add_library(terrane_${name} INTERFACE)
    target_link_libraries(terrane_${name} INTERFACE ${ARG_LINK})
  endif()
  if(tests)
    terrane_test(${name}_test ${ARG_LABEL} FILES ${tests} LINK terrane_${name})
  endif()
endfunction()

# terrane_find_mpi(LANGUAGE): sets MPI_LANGUAGE_FOUND. Debian's openmpi-bin has mpicc, and libopenmpi-dev its headers: where they are
# missing FindMPI would end the configuration.
macro(terrane_find_mpi language)
  find_program(TERRANE_MPICC mpicc)
  set(mpi_header missing)
  if(TERRANE_MPICC)
    execute_process(COMMAND ${TERRANE_MPICC} -E -x c -include mpi.h /dev/null
                    RESULT_VARIABLE mpi_header OUTPUT_QUIET ERROR_QUIET)
  endif()
  if("${mpi_header}" STREQUAL "0")
    find_package(MPI COMPONENTS ${language})
  endif()
endmacro()
