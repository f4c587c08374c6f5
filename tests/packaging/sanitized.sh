#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sanitized.sh SOURCE_DIR LIBRARY WORK_DIR CXX [LAUNCHER]: programs of a user's. With AddressSanitizer, and under memcheck, they link the
# library as it was built; with ThreadSanitizer one that has it.
set -euo pipefail

source_dir=$1 library=$2 work=$3 compiler=$4 launcher=${5:-}
rm -rf "$work"
mkdir -p "$work"
flags=(-std=c++20 -O1 -g "-I$source_dir/include" "-I$source_dir/include/txsync/machine/native")

"$compiler" "${flags[@]}" -fsanitize=address "$source_dir/tests/packaging/sanitized/restarts.cpp" "$library" -pthread -o "$work/restarts"
for algorithm in dctl tinystm_wb 2plsf tl2 norec; do
  echo "== AddressSanitizer, blocks that restart, $algorithm"
  [[ $(TXSYNC_TM=$algorithm TXSYNC_HTM=off timeout 120 "$work/restarts") == ended ]]
done

kinds=(mutex shared_mutex ticket occ_rwlock elided blocks)
if command -v valgrind > /dev/null; then
  "$compiler" "${flags[@]}" "$source_dir/tests/packaging/sanitized/locks.cpp" "$library" -pthread -o "$work/plain"
  for kind in "${kinds[@]}"; do
    echo "== memcheck, $kind"
    [[ $(timeout 60 valgrind -q --error-exitcode=3 "$work/plain" "$kind") == 900 ]]
  done
fi

# A build of the library takes a minute.
[[ ${TXSYNC_TEST_BUDGET:-} == full ]] || exit 0
echo "== a library with ThreadSanitizer, as docs/other-tools.md says"
cmake -S "$source_dir" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DTXSYNC_SANITIZE=thread -DTXSYNC_BUILD_TESTS=OFF -DTXSYNC_BUILD_TOOLS=OFF \
  -DTXSYNC_BUILD_BENCHMARKS=OFF -DTXSYNC_BUILD_EXAMPLES=OFF -DCMAKE_UNITY_BUILD=ON > "$work/log"
cmake --build "$work/build" --target txsync >> "$work/log" || { cat "$work/log"; exit 1; }
"$compiler" "${flags[@]}" -fsanitize=thread "$source_dir/tests/packaging/sanitized/locks.cpp" "$work/build/src/libtxsync.a" -pthread \
  -o "$work/races"
for kind in "${kinds[@]}"; do
  echo "== ThreadSanitizer, $kind"
  [[ $(timeout 60 setarch -R "$work/races" "$kind") == 900 ]]
done
