#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tokyo Cabinet's own test of its databases in memory and on disk by several threads: reader-writer locks only.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(tokyocabinet-bin)

prepare() { :; }

run_program() {
  "${under[@]}" tcumttest combo 4 10000 100 > "$work/combo" || return 1
  "${under[@]}" tcumttest typical 4 10000 100 > "$work/typical" || return 1
  rm -f "$work/hash.tch"
  "${under[@]}" tchmttest typical "$work/hash.tch" 4 10000 > "$work/hash" || return 1
  { grep -h '^record number' "$work/combo"; tail -qn 1 "$work"/combo "$work"/typical "$work"/hash; } > "$1"
}

integration tokyocabinet "$@"
