#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sanitized.sh SOURCE_DIR LIBRARY WORK_DIR CXX: programs of a user's, compiled with AddressSanitizer, that link the library
# as it was built, without one.
set -euo pipefail

source_dir=$1 library=$2 work=$3 compiler=$4
rm -rf "$work"
mkdir -p "$work"
flags=(-std=c++20 -O1 -g "-I$source_dir/include" "-I$source_dir/include/txsync/machine/native")

"$compiler" "${flags[@]}" -fsanitize=address "$source_dir/tests/packaging/sanitized/restarts.cpp" "$library" -pthread -o "$work/restarts"
for algorithm in dctl tinystm_wb 2plsf tl2 norec; do
  echo "== AddressSanitizer, blocks that restart, $algorithm"
  [[ $(TXSYNC_TM=$algorithm TXSYNC_HTM=off timeout 120 "$work/restarts") == ended ]]
done
