# Fails where a folder includes what stands above it, or where anything outside folders named torch/
# includes torch. Run as: cmake -D ROOT=<repository> -P layers.cmake

cmake_minimum_required(VERSION 3.25)

# a folder may include itself and what stands before it here
set(layers core envs models algorithms apps)
set(may_include_core core)
set(may_include_envs core envs)
set(may_include_models core models)
set(may_include_algorithms core envs models algorithms)
set(may_include_apps core envs models algorithms apps)

set(shared_by_algorithms learner losses replay rollout)

set(problems "")
foreach(layer ${layers})
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/${layer}/*.h ${ROOT}/${layer}/*.cpp)
  foreach(source ${sources})
    file(STRINGS ${ROOT}/${source} includes REGEX "^#include")
    foreach(include ${includes})
      if(include MATCHES "\"knurl/([a-z_]+)/" AND NOT CMAKE_MATCH_1 IN_LIST may_include_${layer})
        list(APPEND problems "${source}: ${include}: ${layer}/ stands below ${CMAKE_MATCH_1}/")
      endif()
      if(include MATCHES "<(torch|ATen|c10)/" AND NOT source MATCHES "/torch/")
        list(APPEND problems "${source}: ${include}: torch lives in folders named torch/ only")
      endif()
      if(include MATCHES "\"knurl/core/runtime/" AND layer STREQUAL "envs")
        list(APPEND problems "${source}: ${include}: envs know no runtime")
      endif()
      if(include MATCHES "Eigen/" AND source MATCHES "\\.h$")
        list(APPEND problems "${source}: ${include}: no Eigen in headers: it would cross libraries")
      endif()
      # an algorithm knows no other
      if(source MATCHES "^algorithms/([a-z_]+)/")
        set(home ${CMAKE_MATCH_1})
        if(include MATCHES "\"knurl/algorithms/([a-z_]+)/" AND NOT CMAKE_MATCH_1 STREQUAL home
           AND NOT CMAKE_MATCH_1 IN_LIST shared_by_algorithms)
          list(APPEND problems "${source}: ${include}: algorithms do not include each other")
        endif()
      endif()
      # a folder's detail/ is its own
      if(include MATCHES "\"knurl/([a-z_/]+)/detail/")
        set(owner ${CMAKE_MATCH_1})
        if(NOT source MATCHES "^${owner}/")
          list(APPEND problems "${source}: ${include}: detail/ is private to ${owner}/")
        endif()
      endif()
    endforeach()
  endforeach()
endforeach()

if(problems)
  list(JOIN problems "\n  " text)
  message(FATAL_ERROR "layers are broken:\n  ${text}")
endif()
