#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# thread_safety.sh SOURCE_DIR: Clang's -Wthread-safety accepts the right use of txsync's locks, and refuses each wrong
# one of thread_safety/uses.cpp. Status 77: there is no Clang.
set -euo pipefail

source_dir=$1
compiler=clang++-19
command -v "$compiler" > /dev/null || { echo "test remark: packaging.thread_safety: no $compiler"; exit 77; }
uses=$source_dir/tests/packaging/thread_safety/uses.cpp

compile() {  # WRONG
  "$compiler" -std=c++20 -Wall -Wextra -Wthread-safety -Werror -fsyntax-only -I "$source_dir/include" \
    -I "$source_dir/include/txsync/machine/native" "-DWRONG=$1" "$uses" 2>&1
}

said=$(compile 0) || { echo "thread_safety.sh: the right use is refused:" >&2; echo "$said" >&2; exit 1; }
wrong=$(sed -nE 's/^#e?l?if WRONG == ([0-9]+).*/\1/p' "$uses")
[[ $(wc -l <<< "$wrong") -ge 10 ]]
for use in $wrong; do
  if said=$(compile "$use"); then echo "thread_safety.sh: wrong use $use is accepted" >&2; exit 1; fi
  grep -q 'Wthread-safety' <<< "$said" || { echo "thread_safety.sh: wrong use $use fails for another reason:" >&2; echo "$said" >&2; exit 1; }
done
echo "$(wc -l <<< "$wrong") wrong uses are refused"
