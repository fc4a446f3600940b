# Ordinary programs of POSIX threads, and the ways in which tests start them.

# A way is NAME|COMMAND|ARGUMENTS..., which come before the program; each program is tested in each way. A sanitizer has
# its own malloc, so there are no nodes with one.
set(TERRANE_THREADS_WAYS "Plain|")
if(NOT TERRANE_SANITIZE)
  list(APPEND TERRANE_THREADS_WAYS "TwoNodes|$<TARGET_FILE:terrane>|threads|-n|2|--")
endif()

include(CheckCCompilerFlag)
check_c_compiler_flag(-mno-direct-extern-access TERRANE_HAS_NO_DIRECT_EXTERN_ACCESS)

# terrane_threads_program(TARGET): compiled and linked so that its variables can be shared between nodes: at fixed
# addresses, and without copies of the C library's variables.
function(terrane_threads_program target)
  target_link_libraries(${target} PRIVATE Threads::Threads terrane_flags)
  target_compile_options(${target} PRIVATE -fno-pie $<$<BOOL:${TERRANE_HAS_NO_DIRECT_EXTERN_ACCESS}>:-mno-direct-extern-access>)
  target_link_options(${target} PRIVATE -no-pie)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endfunction()

# terrane_threads_test(NAME TARGET ARGUMENTS...): a test of the program in each way.
function(terrane_threads_test name target)
  foreach(way ${TERRANE_THREADS_WAYS})
    string(REPLACE "|" ";" command "${way}")
    list(POP_FRONT command way_name)
    list(REMOVE_ITEM command "")
    add_test(NAME ${name}.${way_name} COMMAND ${command} $<TARGET_FILE:${target}> ${ARGN})
    set_tests_properties(${name}.${way_name} PROPERTIES LABELS conformance TIMEOUT 120)
  endforeach()
endfunction()
