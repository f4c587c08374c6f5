# SPDX-License-Identifier: Apache-2.0
# The first thing that `cmake --install` does: a build that lacks something installs nothing and says what to build, instead
# of stopping half way at the first file that is not there. `./dev run` leaves such builds, and `ninja TARGET`.
#
# In the script `built` is a list of COMPONENT=FILE; where a component is asked for, its files alone are looked for.
set(of_development txsync txsync_cli)
set(of_simulator "")
if(TXSYNC_BUILD_TOOLS OR TXSYNC_BUILD_TESTS)
  list(APPEND of_development txsync_preload txsync_openmp)
  set(of_simulator txsync_audit txsync_hooks_plugin txsync_sim_runtime txsync_sim_begin txsync_sim_data txsync_sim_libc txsync_sim_program
      txsync_sim_floors txsync_sim_preload txsync_sim_workloads txsync_sim_explorations)
endif()
set(built "")
foreach(component development simulator)
  foreach(target IN LISTS of_${component})
    list(APPEND built "$<$<TARGET_EXISTS:${target}>:${component}=$<TARGET_FILE:${target}>>")
  endforeach()
endforeach()
# A file that no target is named after.
list(APPEND built "$<$<TARGET_EXISTS:txsync_sim_all>:simulator=${PROJECT_BINARY_DIR}/lib/txsync/symbols.map>")
install(CODE "set(built \"${built}\")" ALL_COMPONENTS)
install(CODE "set(build_dir \"${PROJECT_BINARY_DIR}\")" ALL_COMPONENTS)
install(CODE [[
  set(missing "")
  set(enough " --component development")  # where all that is missing is of the simulated machine
  foreach(one IN LISTS built)
    if(NOT one)
      continue()  # of a target that this build does not have
    endif()
    string(REGEX MATCH "^([a-z]+)=(.+)$" one "${one}")
    set(file "${CMAKE_MATCH_2}")
    if(NOT EXISTS "${file}" AND (NOT CMAKE_INSTALL_COMPONENT OR CMAKE_INSTALL_COMPONENT STREQUAL CMAKE_MATCH_1))
      get_filename_component(name "${file}" NAME)
      string(APPEND missing " ${name}")
      if(CMAKE_MATCH_1 STREQUAL "development" OR CMAKE_INSTALL_COMPONENT)
        set(enough "")
      endif()
    endif()
  endforeach()
  if(enough)
    set(enough ", or install it without its simulated machine: cmake --install ${build_dir}${enough}")
  endif()
  if(missing)
    message(FATAL_ERROR "txsync is not built as a whole, and nothing was installed. Missing:${missing}. Build first: cmake --build ${build_dir}${enough}")
  endif()
]] ALL_COMPONENTS)
