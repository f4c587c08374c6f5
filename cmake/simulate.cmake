# SPDX-License-Identifier: Apache-2.0
# txsync_simulate(TARGET): compiles the target's sources, C or C++, for txsync's simulated machine, and links an executable
# with it. The target may use libraries that went through txsync_simulate themselves, and nothing else of this build.
function(txsync_simulate target)
  if(TXSYNC_SIM_PARTS)
    set(driver ${TXSYNC_SIM_BIN}/txsync-c++)
    add_dependencies(${target} txsync_sim_compiler)
  else()
    find_program(TXSYNC_CXX txsync-c++ REQUIRED)
    set(driver ${TXSYNC_CXX})
  endif()
  set_target_properties(${target} PROPERTIES C_COMPILER_LAUNCHER "${driver};--txsync-launch"
                                             CXX_COMPILER_LAUNCHER "${driver};--txsync-launch" POSITION_INDEPENDENT_CODE OFF)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES RULE_LAUNCH_LINK "${driver} --txsync-launch ")
    if(TARGET txsync_sim_libraries)
      add_dependencies(${target} txsync_sim_libraries)
    endif()
  endif()
endfunction()
