#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cross.sh: builds txsync with Debian's cross compilers. On AArch64 the tests run by emulation; POWER and s390 are
# compiled only. What cannot be done for want of a tool is skipped with the reason.
# Prints a line per step; also appends "status<TAB>name<TAB>details" to the file that TXSYNC_STEPS names.
# With --build-only: all that the steps need is built, and nothing said of them.
# Exit status 1 when a step failed.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

readonly root=$PWD/build/cross
# The host's libraries are no help here; what needs them is left out.
export PKG_CONFIG_LIBDIR=$root/no-packages
mkdir -p "$root"
failures=0

step() {  # STATUS NAME DETAILS
  echo "== $2: $1, $3"
  [[ $1 != failed ]] || failures=$((failures + 1))
  [[ -z ${TXSYNC_STEPS:-} ]] || printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> "$TXSYNC_STEPS"
}

# Runs a command quietly; shows what it said when it fails.
quietly() {
  "$@" > "$root/log" 2>&1 || { tail -50 "$root/log"; return 1; }
}

configure() {  # PROCESSOR [ARGUMENT...]
  local processor=$1 launcher=()
  shift
  if command -v ccache > /dev/null; then
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros  # as in dev
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  quietly cmake -G Ninja -S . -B "$root/$processor" --toolchain "$PWD/cmake/toolchains/$processor.cmake" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -DNDEBUG" -DTXSYNC_WERROR=ON -DTXSYNC_BUILD_TOOLS=OFF -DTXSYNC_BUILD_BENCHMARKS=OFF \
    -DTXSYNC_BUILD_EXAMPLES=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 "${launcher[@]}" "$@"
}

# Header-only libraries are the same for every processor, but their folder, /usr/include, is not.
portable_headers() {
  local name
  mkdir -p "$root/include"
  for name in nlohmann CLI toml++; do
    [[ ! -d /usr/include/$name ]] || ln -sfn "/usr/include/$name" "$root/include/$name"
  done
}

googletest_for_aarch64() {
  [[ ! -e $root/googletest/lib/libgtest_main.a ]] || return 0
  quietly cmake -G Ninja -S /usr/src/googletest -B "$root/googletest-build" --toolchain "$PWD/cmake/toolchains/aarch64.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DBUILD_GMOCK=OFF -DCMAKE_INSTALL_PREFIX="$root/googletest" \
    -DCMAKE_INSTALL_LIBDIR=lib \
    && quietly cmake --build "$root/googletest-build" -j "$(nproc)" && quietly cmake --install "$root/googletest-build"
}

build_aarch64() {
  portable_headers
  googletest_for_aarch64 || { echo "GoogleTest did not build"; return 1; }
  configure aarch64 -DTXSYNC_BUILD_TESTS=ON -DTXSYNC_PRECOMPILE_HEADERS=ON -DCMAKE_PREFIX_PATH="$root/googletest" \
    -DCMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES="$root/include" && quietly cmake --build "$root/aarch64" -j "$(nproc)"
}

test_aarch64() {
  local start=$SECONDS log=$root/ctest-aarch64.log tool
  for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v $tool > /dev/null || { step skipped aarch64 "$tool is not installed"; return; }
  done
  [[ -d /usr/src/googletest ]] || { step skipped aarch64 "the package googletest (its sources) is not installed"; return; }
  build_aarch64 || { step failed aarch64 "the build failed"; return; }
  local status=ok
  # An emulated processor is some ten times slower.
  rm -rf "$root/aarch64/skips"
  ctest --test-dir "$root/aarch64" -j "$(nproc)" --timeout "${TXSYNC_TEST_TIMEOUT_S:-400}" --no-tests=error --output-on-failure > "$log" 2>&1 || status=failed
  python3 -B tests/skipped/check.py no-attempts "$root/aarch64" "$log" || status=failed
  if [[ $status == ok ]]; then tail -4 "$log"; else grep -vE '^ +Start ' "$log"; fi
  step $status aarch64 "$(grep -E '% tests passed' "$log" || echo 'no tests ran') (qemu-user), $((SECONDS - start)) s"
}

build_library() { configure "$1" -DTXSYNC_BUILD_TESTS=OFF && quietly cmake --build "$root/$1" --target txsync -j "$(nproc)"; }  # PROCESSOR

compile_only() {  # PROCESSOR COMPILER
  local start=$SECONDS
  command -v "$2" > /dev/null || { step skipped "$1" "$2 is not installed"; return; }
  build_library "$1" || { step failed "$1" "the library does not compile"; return; }
  step ok "$1" "the library compiles, $((SECONDS - start)) s"
}

if [[ ${1:-} == --build-only ]]; then
  if command -v aarch64-linux-gnu-g++ > /dev/null && [[ -d /usr/src/googletest ]]; then build_aarch64; fi
  if command -v powerpc64le-linux-gnu-g++ > /dev/null; then build_library ppc64le; fi
  if command -v s390x-linux-gnu-g++ > /dev/null; then build_library s390x; fi
  exit
fi
test_aarch64
compile_only ppc64le powerpc64le-linux-gnu-g++
compile_only s390x s390x-linux-gnu-g++
[[ $failures -eq 0 ]]
