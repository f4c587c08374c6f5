#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pbzip2 with four threads: what it compresses is the same, byte for byte, and comes back.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(pbzip2)
policies=(none mutex ticket)
most_waiting=3

prepare() { seq 2000000 > "$work/input"; }

run_program() {
  "${under[@]}" pbzip2 -c -p4 -b1 "$work/input" > "$work/packed.bz2" || return 1
  "${under[@]}" pbzip2 -dc -p4 "$work/packed.bz2" > "$work/again" || return 1
  cmp "$work/input" "$work/again" || return 1
  sha256sum < "$work/packed.bz2" > "$1"
}

integration pbzip2 "$@"
