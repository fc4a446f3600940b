# Libraries of programs, and what programs do to memory: programs and libraries that know nothing of Terrane.
add_library(threads_library_linked SHARED library_linked.c)
set_target_properties(threads_library_linked PROPERTIES OUTPUT_NAME uconv_of_test)  # as libucp begins
add_library(threads_library_part SHARED library_part.c)
add_library(threads_library_opened MODULE library_opened.c)
target_link_libraries(threads_library_opened PRIVATE threads_library_part)
add_library(threads_library_starts_thread MODULE library_starts_thread.c)
target_compile_definitions(threads_library_starts_thread PRIVATE OTHER_LIBRARY="$<TARGET_FILE:threads_library_part>")
add_library(threads_library_unresolved MODULE library_unresolved.c)
add_library(threads_library_locked SHARED library_locked.c)
add_library(threads_library_table SHARED library_table.c)
add_library(threads_library_entered SHARED library_table.c)
target_compile_definitions(threads_library_entered PRIVATE ENTERED)
# Parts are 2 MiB apart, as linkers before 2018 put them.
target_link_options(threads_library_opened PRIVATE -Wl,-z,max-page-size=0x200000)
add_executable(threads_libraries_program libraries_program.c)
target_link_libraries(threads_libraries_program PRIVATE threads_library_linked Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(threads_libraries_program PROPERTIES ENABLE_EXPORTS ON)
add_executable(threads_library_locked_program library_locked_program.c)
target_link_libraries(threads_library_locked_program PRIVATE threads_library_locked)
foreach(program memory_rights address_of_free environment nested_functions)
  add_executable(threads_${program}_program ${program}_program.c)
  target_link_libraries(threads_${program}_program PRIVATE Threads::Threads)
  target_compile_options(threads_${program}_program PRIVATE -O1)
endforeach()
target_compile_options(threads_address_of_free_program PRIVATE -fno-pie)
target_link_options(threads_address_of_free_program PRIVATE -no-pie)
target_link_options(threads_nested_functions_program PRIVATE -Wl,-z,execstack)

terrane_hosts_test(libraries_test cluster TIMEOUT 300 FILES libraries_test.cpp)
if(TARGET libraries_test)
  target_include_directories(libraries_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/hosts)
  target_compile_definitions(libraries_test PRIVATE
    LIBRARIES_PROGRAM="$<TARGET_FILE:threads_libraries_program>" LOCKED_PROGRAM="$<TARGET_FILE:threads_library_locked_program>"
    OPENED_LIBRARY="$<TARGET_FILE:threads_library_opened>" THREAD_LIBRARY="$<TARGET_FILE:threads_library_starts_thread>"
    UNRESOLVED_LIBRARY="$<TARGET_FILE:threads_library_unresolved>"
    MEMORY_RIGHTS_PROGRAM="$<TARGET_FILE:threads_memory_rights_program>" ENVIRONMENT_PROGRAM="$<TARGET_FILE:threads_environment_program>"
    ADDRESS_OF_FREE_PROGRAM="$<TARGET_FILE:threads_address_of_free_program>"
    NESTED_FUNCTIONS_PROGRAM="$<TARGET_FILE:threads_nested_functions_program>")
  add_dependencies(libraries_test libterrane_threads threads_libraries_program threads_library_locked_program threads_library_opened
    threads_library_starts_thread threads_library_unresolved threads_memory_rights_program threads_environment_program threads_address_of_free_program
    threads_nested_functions_program)
endif()

# Libraries whose constructors start threads before main. The second one has the name of one that each node has for
# itself; its copy is opened later.
add_library(threads_early_library SHARED early_library.cpp)
target_link_libraries(threads_early_library PRIVATE Threads::Threads)
foreach(when linked opened)
  add_library(threads_node_library_${when} SHARED node_library.c)
  set_target_properties(threads_node_library_${when} PROPERTIES OUTPUT_NAME test_openblas_${when})
  target_link_libraries(threads_node_library_${when} PRIVATE Threads::Threads)
endforeach()
add_executable(threads_early_program early_threads_program.cpp)
target_link_libraries(threads_early_program PRIVATE threads_early_library threads_node_library_linked Threads::Threads ${CMAKE_DL_LIBS})
terrane_hosts_test(early_threads_test cluster TIMEOUT 300 FILES early_threads_test.cpp)
if(TARGET early_threads_test)
  target_include_directories(early_threads_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/hosts)
  target_compile_definitions(early_threads_test PRIVATE
    EARLY_PROGRAM="$<TARGET_FILE:threads_early_program>" NODE_LIBRARY="$<TARGET_FILE:threads_node_library_opened>")
  add_dependencies(early_threads_test libterrane_threads threads_early_program threads_node_library_opened)
endif()
