# Installs knurl, moves what was installed, builds apps/examples/my_env and my_model against it as a user
# does, and trains with both programs of each. Variables: see CMakeLists.txt here.
cmake_minimum_required(VERSION 3.25)

set(prefix ${WORK}/moved)
set(here ${WORK}/run)

# run(<command>…): in the run's directory; what it prints is `output`
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${here} TIMEOUT 200
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${code}:\n${out}${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

# expect(<what> <part>): the last output contains a text
function(expect what part)
  string(FIND "${output}" "${part}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${what}: \"${part}\" is not in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${here})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${prefix})

# programs, shared libraries, headers, package; nothing else, and nothing that looks elsewhere
file(GLOB programs RELATIVE ${prefix}/bin ${prefix}/bin/*)
if(NOT programs STREQUAL "knurl")
  message(FATAL_ERROR "bin/ has ${programs}: only knurl is to be installed")
endif()
file(GLOB_RECURSE surplus ${prefix}/*.a ${prefix}/*test* ${prefix}/*bench* ${prefix}/*.cpp)
if(surplus)
  message(FATAL_ERROR "not to be installed: ${surplus}")
endif()
file(GLOB libraries ${prefix}/lib*/libknurl_*.so)
foreach(binary ${prefix}/bin/knurl ${libraries})
  run(${READELF} -d ${binary})
  if(output MATCHES "R(UN)?PATH[^\n]*\\[([^\n]*)\\]" AND CMAKE_MATCH_2 MATCHES "(^|:)[^$]")
    message(FATAL_ERROR "${binary} looks for libraries in ${CMAKE_MATCH_2}")
  endif()
endforeach()

# every installed header can be included
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*.h)
list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
list(JOIN headers "" all_headers)
file(WRITE ${here}/all_headers.cpp "${all_headers}")
run(${CCACHE} ${CXX} -std=c++20 -Wall -Wextra -Werror -I${prefix}/include -c all_headers.cpp)

# another version of the package is not taken for this one
find_package(knurl 99 QUIET CONFIG PATHS ${prefix} NO_DEFAULT_PATH)
if(knurl_FOUND OR NOT knurl_CONSIDERED_VERSIONS)
  message(FATAL_ERROR "find_package(knurl 99) found ${knurl_CONSIDERED_VERSIONS}")
endif()

# build_project(<name>): a user's project, built against the package
function(build_project name)
  file(COPY ${EXAMPLES}/${name} DESTINATION ${WORK})
  set(options -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${CXX})
  if(CCACHE)
    list(APPEND options -D CMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
  endif()
  if(SANITIZE)
    list(APPEND options -D CMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
  endif()
  run(${CMAKE_COMMAND} -S ${WORK}/${name} -B ${WORK}/${name}/build -G Ninja ${options})
  run(${CMAKE_COMMAND} --build ${WORK}/${name}/build)
  file(GLOB files ${EXAMPLES}/${name}/*.yaml)
  file(COPY ${files} DESTINATION ${here})
endfunction()

# choose(<kind> <project> <plug-in>): the command of a project's own main, or the installed one with
# its plug-in, as `command` and `more`
function(choose kind project plugin)
  if(kind STREQUAL own_main)
    set(command ${WORK}/${project}/build/my_knurl PARENT_SCOPE)
    set(more "" PARENT_SCOPE)
  else()
    set(command ${prefix}/bin/knurl PARENT_SCOPE)
    set(more --plugin ${WORK}/${project}/build/${plugin} PARENT_SCOPE)
  endif()
endfunction()

build_project(my_env)
build_project(my_model)

# its env keeps its promises, and trains the same linked in and from a plug-in
foreach(kind own_main plugin)
  choose(${kind} my_env libwindy_walk.so)
  run(${command} check-env WindyWalk-v0 ${more})
  expect("check-env by ${kind}" "no rule is broken")
  run(${command} config WindyWalk-v0 ${more})
  expect("config by ${kind}" "wind = 0.1")
  run(${command} train windy.yaml ${more} --stop "{training_iteration: 3}" --output ${kind})
  file(GLOB weights ${here}/${kind}/windy/*/checkpoint_000003/policies/default_policy.safetensors)
  file(SHA256 "${weights}" weights_by_${kind})
endforeach()
if(NOT weights_by_own_main STREQUAL weights_by_plugin)
  message(FATAL_ERROR "an env from a plug-in trains other weights than the same env linked in")
endif()

# its model keeps its promises, and trains the same linked in and from a plug-in, by two algorithms
run(${WORK}/my_model/build/wave_features_test)
foreach(kind own_main plugin)
  choose(${kind} my_model libwave_net.so)
  run(${command} list models ${more})
  expect("list models by ${kind}" "learnt waves of the observation")
  run(${command} config wave_net ${more})
  expect("config by ${kind}" "waves = 32")
  run(${command} train waves.yaml ${more} --stop "{training_iteration: 2}" --output ${kind})
  foreach(algorithm ppo dqn)
    file(GLOB weights
      ${here}/${kind}/${algorithm}-waves/*/checkpoint_000002/policies/default_policy.safetensors)
    file(SHA256 "${weights}" ${algorithm}_by_${kind})
  endforeach()
endforeach()
if(NOT ppo_by_own_main STREQUAL ppo_by_plugin OR NOT dqn_by_own_main STREQUAL dqn_by_plugin)
  message(FATAL_ERROR "a model from a plug-in trains other weights than the same model linked in")
endif()

# who has not got the model is told, and asked for the plug-in where the run had one
file(GLOB trial ${here}/plugin/ppo-waves/*)
execute_process(COMMAND ${prefix}/bin/knurl evaluate ${trial} --episodes 1
  WORKING_DIRECTORY ${here} TIMEOUT 60 RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE output)
expect("evaluate without the plug-in" "model wave_net: unknown; its run had it from a plug-in: give")
run(${prefix}/bin/knurl evaluate ${trial} --episodes 1 ${more})
