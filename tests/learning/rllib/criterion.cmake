# Trains one of RLlib's tuned examples with the seeds 1, 2 and 3, as users do, and fails unless the
# median meets the file's own criterion: with at least two seeds every trial ends by its return,
# not by its limit of steps, iterations or time.
#   cmake -D KNURL=… -D FILE=… -D OUTPUT=… -P criterion.cmake
set(met 0)
foreach(seed 1 2 3)
  file(REMOVE_RECURSE ${OUTPUT})
  execute_process(COMMAND ${KNURL} train ${FILE} --seed ${seed} --output ${OUTPUT}
    OUTPUT_VARIABLE out RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${FILE}, seed ${seed}: ended with ${code}\n${out}")
  endif()
  string(REGEX MATCHALL "\nended: [^\n]*" ends "${out}")
  set(others ${ends})
  list(FILTER others EXCLUDE REGEX "episode_reward_mean")
  message(STATUS "seed ${seed}:${ends}")
  if(ends AND NOT others)
    math(EXPR met "${met} + 1")
  endif()
endforeach()
file(REMOVE_RECURSE ${OUTPUT})
if(met LESS 2)
  message(FATAL_ERROR "${FILE}: ${met} of 3 seeds met the criterion")
endif()
