# SPDX-License-Identifier: Apache-2.0
# txsync_simulate(TARGET): compiles the target's sources, C or C++, for txsync's simulated machine, and links an executable
# with it. Of libraries the target may use txsync, whose simulated floors it gets, and those that went through txsync_simulate
# themselves. For the generators of Ninja and Make files.
function(txsync_simulate target)
  if(TARGET txsync_sim_compiler)
    set(driver ${TXSYNC_SIM_BIN}/txsync-c++)
    add_dependencies(${target} txsync_sim_compiler)
  else()
    # Installed, this file stands in lib/txsync.
    get_filename_component(driver "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../bin/txsync-c++" ABSOLUTE)
    if(NOT EXISTS ${driver})
      message(FATAL_ERROR "txsync_simulate(${target}): this txsync has no simulated machine (${driver} is missing); "
                          "it needs GCC 12 for x86-64, gcc-12-plugin-dev and objcopy.")
    endif()
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
