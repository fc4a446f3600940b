# The release build compiles up to 12 sources of a library as one, which takes 40 % less time from a cold cache. These
# sources stay alone: their anonymous namespaces have names of other sources, or they are compiled for another
# processor. Tests, benchmarks and examples are compiled source by source.
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
terrane_alone(terrane_sim ${src}/sim/sc_names.cpp ${src}/sim/script/parse.cpp ${src}/sim/routing/routing_campaign.cpp)
terrane_alone(terrane_transport ${src}/transport/ucx/outbox.cpp ${src}/transport/ucx/worker.cpp)
terrane_alone(terrane_bootstrap ${src}/bootstrap/job_map.cpp)
terrane_alone(terrane ${src}/tools/sim_script.cpp)
terrane_alone(terrane_launch ${src}/tools/launch/host/host_part.cpp ${src}/tools/launch/link.cpp ${src}/tools/launch/hub/lobby.cpp
              ${src}/tools/launch/hub/remote_engine.cpp)
terrane_alone(terrane_launch ${src}/tools/launch/guests/introduction.cpp)  # a test compiles it once more

# Libraries and commands of the folder. Not of shmem: its functions have the names of macros of its public header; not
# the report, which has a function `quoted` beside the standard library's; not OpenMP and the runtime, where many names
# meet.
set(apart libterrane_shmem libterrane_omp terrane_report terrane_runtime)
function(terrane_unite folder)
  get_directory_property(folders DIRECTORY ${folder} SUBDIRECTORIES)
  foreach(each ${folders})
    terrane_unite(${each})
  endforeach()
  get_directory_property(targets DIRECTORY ${folder} BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    if(NOT target MATCHES "_test$" AND NOT target IN_LIST apart)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    endif()
  endforeach()
endfunction()
if(TERRANE_UNITY)
  get_directory_property(folders SUBDIRECTORIES)
  list(FILTER folders INCLUDE REGEX "^${src}/")
  foreach(folder ${folders})
    terrane_unite(${folder})
  endforeach()
endif()
