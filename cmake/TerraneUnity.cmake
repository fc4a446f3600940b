# The quick build (preset quick) compiles several sources of a library as one. These stay alone: their anonymous
# namespaces have names of other sources, or they are compiled for another processor.
function(terrane_alone target)
  if(TARGET ${target})
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

set(src ${CMAKE_SOURCE_DIR}/src)
file(GLOB diffs ${src}/platform/diff*.cpp)
terrane_alone(terrane_platform ${diffs})
terrane_alone(terrane_protocol_serve ${src}/protocol/serve/server.cpp)
terrane_alone(terrane_protocol_predict ${src}/protocol/predict/heuristics.cpp)  # the same in both variants
terrane_alone(terrane_protocol_hlrc ${src}/protocol/hlrc/pipeline.cpp)
terrane_alone(terrane_sim ${src}/sim/sc_names.cpp ${src}/sim/script/parse.cpp)
terrane_alone(terrane_transport ${src}/transport/ucx/outbox.cpp ${src}/transport/ucx/worker.cpp)
terrane_alone(terrane_bootstrap ${src}/bootstrap/job_map.cpp)
terrane_alone(terrane_runtime ${src}/runtime/shmem/copy.cpp ${src}/runtime/shmem/reduce.cpp
              ${src}/runtime/shmem/segment_directory.cpp ${src}/runtime/shmem/statics.cpp
              ${src}/runtime/shmem/strided_mail.cpp ${src}/runtime/chunks/meetings.cpp
              ${src}/runtime/chunks/engine_reports.cpp)
terrane_alone(libterrane_omp ${src}/frontend/omp/unsigned_loops.cpp)
terrane_alone(libterrane_chunks ${src}/frontend/chunks/chunks.cpp)
terrane_alone(terrane ${src}/tools/sim_script.cpp)
terrane_alone(terrane_launch ${src}/tools/launch/host_part.cpp ${src}/tools/launch/lobby.cpp)
# The first one's functions have the names of macros of its public header; the second one has few sources, and a
# function `quoted` beside the standard library's.
foreach(target libterrane_shmem terrane_report)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
endforeach()
