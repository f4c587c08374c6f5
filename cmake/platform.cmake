# SPDX-License-Identifier: Apache-2.0
# What txsync runs on; everything else is refused with a sentence.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "txsync runs on Linux with glibc; ${CMAKE_SYSTEM_NAME} is not supported.")
endif()
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <features.h>\n#ifndef __GLIBC__\n#error no glibc\n#endif\nint main() {}" TXSYNC_HAVE_GLIBC)
if(NOT TXSYNC_HAVE_GLIBC)
  message(FATAL_ERROR "txsync runs on Linux with glibc; this C library (musl?) is not supported.")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "txsync needs GCC 12 or later; this is ${CMAKE_CXX_COMPILER_VERSION}.")
endif()
find_package(Threads REQUIRED)

# Probes for perf, bpftrace and SystemTap (src/machine/probes.hpp): where the header is. Looked for anew where it was missing.
if(NOT TXSYNC_HAVE_SDT)
  unset(TXSYNC_HAVE_SDT CACHE)
endif()
check_cxx_source_compiles("#include <sys/sdt.h>\nint main(int argc, char**) { STAP_PROBE1(txsync, probe, argc); }" TXSYNC_HAVE_SDT)
if(NOT TXSYNC_HAVE_SDT)
  message(STATUS "<sys/sdt.h> (systemtap-sdt-dev) is missing: the libraries have no probes for perf and bpftrace.")
endif()

set(TXSYNC_COMPILE_OPTIONS -Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++'s std::stable_sort uses what libstdc++ deprecates, and Clang holds it against the caller.
  list(APPEND TXSYNC_COMPILE_OPTIONS $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
if(TXSYNC_WERROR)
  list(APPEND TXSYNC_COMPILE_OPTIONS -Werror)
endif()
if(TXSYNC_SANITIZE)
  add_compile_options(-fsanitize=${TXSYNC_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TXSYNC_SANITIZE})
  if(TXSYNC_SANITIZE MATCHES "undefined")
    # A finding ends the program, so that its test fails. A null pointer's use is a fault that AddressSanitizer reports: its
    # check before each access would cost a tenth of the compile time.
    add_compile_options(-fno-sanitize-recover=all -fno-sanitize=null)
  endif()
  if(TXSYNC_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC's ThreadSanitizer ignores fences and says so; ours stand only beside atomics that it does see.
    add_compile_options(-Wno-tsan)
  endif()
endif()

# The commit that results name, "unknown" outside a checkout.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE TXSYNC_COMMIT
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT TXSYNC_COMMIT)
  set(TXSYNC_COMMIT unknown)
endif()
