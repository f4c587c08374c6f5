#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sanitized.sh SOURCE_DIR LIBRARY WORK_DIR CXX [LAUNCHER]: a user's programs that link the library as it was built. They
# run with AddressSanitizer, with UndefinedBehaviorSanitizer and with ThreadSanitizer. They also run without exceptions
# and run-time types under Valgrind. One algorithm of each kind of blocks is used (private writes, writes in place, one
# clock, one lock, hardware); with TXSYNC_TEST_BUDGET=full all of them.
set -euo pipefail

source_dir=$1 library=$2 work=$3 compiler=$4 launcher=${5:-}
rm -rf "$work"
mkdir -p "$work"
flags=(-std=c++20 -O0 -g1 "-I$source_dir/include" "-I$source_dir/include/txsync/machine/native")
build() {  # NAME SOURCE LIBRARY FLAG...
  local name=$1 source=$2 with=$3
  shift 3
  "$compiler" "${flags[@]}" "$@" "$source_dir/tests/packaging/sanitized/$source.cpp" "$with" "-Wl,-rpath,$(dirname "$with")" -pthread \
    -o "$work/$name"
}
build restarts restarts "$library" -fsanitize=address &
build races locks "$library" -fsanitize=thread &
build plain locks "$library" -fno-exceptions -fno-rtti &
build checked locks "$library" -fsanitize=address,undefined -fno-sanitize-recover=all &
wait

algorithms=(dctl tl2 norec sgl htm_sgl_adaptive)
if [[ ${TXSYNC_TEST_BUDGET:-} == full ]]; then algorithms+=(tinystm_wb tinystm_wt 2plsf htm_sgl); fi
says() {  # WORD COMMAND...: and no report, which the exit status tells
  local word=$1 said
  shift
  said=$("$@" 2> "$work/told") && [[ $said == "$word" ]] || { cat "$work/told" >&2; echo "sanitized.sh: failed: $*: $said" >&2; return 1; }
}
for algorithm in "${algorithms[@]}"; do
  [[ $algorithm != *sgl* ]] || continue  # blocks under one lock do not restart
  echo "== AddressSanitizer, blocks that restart, $algorithm"
  TXSYNC_TM=$algorithm TXSYNC_HTM=off says ended timeout 120 "$work/restarts"
done

detected() {  # PROGRAM KIND...: without the random addresses that older ThreadSanitizers cannot bear
  local program=$1
  shift
  timeout 100 setarch -R "$work/$program" "$@"
}
checked() { says right timeout 100 "$work/checked" "$@"; }  # also no leak
echo "== AddressSanitizer and UndefinedBehaviorSanitizer in the program only: all types"
checked all
for algorithm in "${algorithms[@]}"; do
  echo "== AddressSanitizer and UndefinedBehaviorSanitizer in the program only: blocks, $algorithm"
  TXSYNC_TM=$algorithm checked blocks private retry
done
echo "== ThreadSanitizer in the program only: all types, several times, since a false report depends on who comes when"
for _ in {1..3}; do says right detected races all; done
for algorithm in "${algorithms[@]}"; do
  echo "== ThreadSanitizer in the program only: blocks, $algorithm"
  TXSYNC_TM=$algorithm says right detected races blocks private retry
done
echo "== and a race is reported"
if detected races race > "$work/told" 2>&1; then echo "no race was reported" >&2; exit 1; fi
grep -q "data race .*locks.cpp" "$work/told"

echo "== without exceptions and run-time types"
says right timeout 60 "$work/plain" all
if command -v valgrind > /dev/null; then
  echo "== memcheck"
  says right timeout 100 valgrind -q --error-exitcode=3 "$work/plain" all
  for tool in helgrind drd; do
    echo "== $tool, with the suppressions that are installed, of data that no lock of txsync guards"
    says right timeout 100 valgrind -q --tool=$tool --suppressions="$source_dir/packaging/valgrind.supp" --error-exitcode=3 "$work/plain" nothing
  done
fi

# A build of the library takes a minute.
[[ ${TXSYNC_TEST_BUDGET:-} == full ]] || exit 0
echo "== a library with ThreadSanitizer"
cmake -S "$source_dir" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DTXSYNC_SANITIZE=thread -DTXSYNC_BUILD_TESTS=OFF -DTXSYNC_BUILD_TOOLS=OFF \
  -DTXSYNC_BUILD_BENCHMARKS=OFF -DTXSYNC_BUILD_EXAMPLES=OFF -DCMAKE_UNITY_BUILD=ON > "$work/log"
cmake --build "$work/build" --target txsync >> "$work/log" || { cat "$work/log"; exit 1; }
build seen locks "$work/build/src/libtxsync.a" -fsanitize=thread
says right detected seen all
