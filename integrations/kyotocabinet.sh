#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kyoto Cabinet's own tests of its tree and of its cache, which check each value that they read.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(kyotocabinet-utils)

prepare() { :; }

run_program() {
  # In order and without random keys, the numbers of records are known.
  "${under[@]}" kcgrasstest order -th 2 50000 > "$work/order" || return 1
  "${under[@]}" kcgrasstest order -th 2 -rnd 50000 > "$work/random" || return 1
  "${under[@]}" kccachetest wicked -th 4 50000 > "$work/wicked" || return 1
  { grep '^count' "$work/order"; tail -qn 1 "$work"/order "$work"/random "$work"/wicked; } > "$1"
}

integration kyotocabinet "$@"
