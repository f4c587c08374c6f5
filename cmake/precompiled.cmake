# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: half of the time of compiling a small source goes into reading the standard library's headers.
# ./dev asks for them. Builds without them find out which source lacks an #include: Clang's, clang-tidy's, those for POWER
# and s390, and those of users.
#
# A precompiled header is of use only to targets with equal options, so that each such group has one. GCC alone checks this
# (-Winvalid-pch); other compilers get none. With ccache they need CCACHE_SLOPPINESS=pch_defines,time_macros.
option(TXSYNC_PRECOMPILE_HEADERS "Precompile the headers that most sources include" OFF)

set(TXSYNC_STANDARD_HEADERS <algorithm> <array> <atomic> <cerrno> <chrono> <cstddef> <cstdint> <cstdio> <cstdlib> <cstring> <functional>
    <limits> <map> <memory> <mutex> <new> <optional> <set> <stdexcept> <string> <string_view> <thread> <utility> <vector>)

# txsync_precompile(GROUP TARGET): the target includes the group's headers precompiled. It has the options of the group.
function(txsync_precompile group target)
  if(TARGET txsync_headers_${group})
    target_precompile_headers(${target} REUSE_FROM txsync_headers_${group})
    # So that ccache finds the same as without, without reading all headers.
    # GCC 12 warns of std::string's own code (its bug 105651), in precompiled headers as if it were ours.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess> $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds>)
    if(group MATCHES "^tests")
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>)
    endif()
  endif()
endfunction()

# txsync_precompiled(GROUP LIBRARY|PROGRAM [OPTIONS option...] [LIBRARIES library...] [FIRST header] [HEADERS header...]):
# a group, of what becomes parts of libraries, or of programs. HEADERS come on top of the standard library's.
function(txsync_precompiled group kind)
  cmake_parse_arguments(arg "" "FIRST" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  if(NOT TXSYNC_PRECOMPILE_HEADERS OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR TARGET txsync_headers_${group})
    return()
  endif()
  set(source ${PROJECT_BINARY_DIR}/precompiled/${group}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "int main() {}\n")
  endif()
  if(kind STREQUAL "PROGRAM")
    add_executable(txsync_headers_${group} EXCLUDE_FROM_ALL ${source})
  else()
    add_library(txsync_headers_${group} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  target_compile_options(txsync_headers_${group} PRIVATE ${TXSYNC_COMPILE_OPTIONS} ${arg_OPTIONS})
  target_link_libraries(txsync_headers_${group} PRIVATE Threads::Threads ${arg_LIBRARIES})
  target_precompile_headers(txsync_headers_${group} PRIVATE ${arg_FIRST} ${TXSYNC_STANDARD_HEADERS} ${arg_HEADERS})
endfunction()
