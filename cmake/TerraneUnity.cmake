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
terrane_alone(terrane_protocol_hlrc ${src}/protocol/hlrc/ahead.cpp)
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
terrane_alone(terrane_launch ${src}/tools/launch/host_part.cpp)
terrane_alone(terrane_report ${src}/tools/report/totals.cpp)
