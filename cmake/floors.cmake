# SPDX-License-Identifier: Apache-2.0
# A floor is one folder of src/. What stands above the seam is compiled once for each back end that wants it, from the same
# sources; the back end is chosen by include directory alone.
set(TXSYNC_BACKEND_INCLUDE_native ${PROJECT_SOURCE_DIR}/include/txsync/machine/native)
set(TXSYNC_BACKEND_INCLUDE_scripted ${PROJECT_SOURCE_DIR}/src/machine/scripted/include)
set(TXSYNC_BACKEND_INCLUDE_virtual ${PROJECT_SOURCE_DIR}/src/machine/virtual/include)

# An abort on the scripted machine leaves functions without returning from them, and returns from others twice. Sanitizers
# that keep books of calls, or frames outside the stack, must not where that happens.
set(TXSYNC_BACKEND_OPTIONS_scripted "")
if(TXSYNC_SANITIZE MATCHES "thread")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(TXSYNC_BACKEND_OPTIONS_scripted --param=tsan-instrument-func-entry-exit=0)
  else()
    set(TXSYNC_BACKEND_OPTIONS_scripted "SHELL:-mllvm -tsan-instrument-func-entry-exit=0")
  endif()
elseif(TXSYNC_SANITIZE MATCHES "address" AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(TXSYNC_BACKEND_OPTIONS_scripted -fsanitize-address-use-after-return=never)
endif()

# txsync_fast_to_compile(TARGET): for what is in no measured path and includes JSON or the command line's library, whose
# headers are most of its compiling: several files at once, and not optimised to the end.
function(txsync_fast_to_compile target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 18)
endfunction()

txsync_precompiled(floors LIBRARY)

# txsync_floor(NAME BACKEND SOURCES...): an object of the floor for one back end. The target is txsync_NAME_BACKEND, built
# when something needs it: who only wants the library compiles nothing for the other back ends.
# What is for the virtual back end exists once more as txsync_NAME_simulated, compiled for the simulated machine.
function(txsync_floor name backend)
  txsync_floor_objects(txsync_${name}_${backend} ${backend} ${ARGN})
  if(NOT TXSYNC_BACKEND_OPTIONS_${backend})
    txsync_precompile(floors txsync_${name}_${backend})
  endif()
  if(backend STREQUAL "virtual" AND TXSYNC_SIM_TOOLCHAIN)
    txsync_floor_objects(txsync_${name}_simulated ${backend} ${ARGN})
    txsync_simulate(txsync_${name}_simulated)
    txsync_precompile(simulated txsync_${name}_simulated)
  endif()
endfunction()

function(txsync_floor_objects target backend)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<BUILD_INTERFACE:${TXSYNC_BACKEND_INCLUDE_${backend}}>
                                       PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${target} PRIVATE ${TXSYNC_COMPILE_OPTIONS} ${TXSYNC_BACKEND_OPTIONS_${backend}})
  target_link_libraries(${target} PUBLIC Threads::Threads)
endfunction()

# txsync_image(NAME SOURCES ... FLOORS ...): an image that the command starts on the simulated machine, of the same sources.
function(txsync_image name)
  cmake_parse_arguments(arg "" "" "SOURCES;FLOORS" ${ARGN})
  add_executable(txsync_sim_${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  foreach(floor ${arg_FLOORS})
    target_sources(txsync_sim_${name} PRIVATE $<TARGET_OBJECTS:txsync_${floor}_simulated>)
  endforeach()
  txsync_simulate(txsync_sim_${name})
  txsync_precompile(simulated txsync_sim_${name})
  target_include_directories(txsync_sim_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${TXSYNC_BACKEND_INCLUDE_virtual} ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(txsync_sim_${name} PRIVATE ${TXSYNC_COMPILE_OPTIONS})
  set_target_properties(txsync_sim_${name} PROPERTIES OUTPUT_NAME txsync-sim-${name} RUNTIME_OUTPUT_DIRECTORY ${TXSYNC_SIM_PARTS})
  foreach(part runtime begin data libc program)
    set_property(TARGET txsync_sim_${name} APPEND PROPERTY LINK_DEPENDS ${TXSYNC_SIM_PARTS}/libtxsync-sim-${part}.a)
  endforeach()
endfunction()
