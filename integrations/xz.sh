#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# xz with four threads: what it compresses is the same, byte for byte, and comes back.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(xz-utils)
policies=(none mutex ticket)
most_waiting=3

prepare() { seq 2000000 > "$work/input"; }

run_program() {
  "${under[@]}" xz -c -T4 --block-size=1MiB -1 "$work/input" > "$work/packed.xz" || return 1
  "${under[@]}" xz -dc -T4 "$work/packed.xz" > "$work/again" || return 1
  cmp "$work/input" "$work/again" || return 1
  sha256sum < "$work/packed.xz" > "$1"
}

integration xz "$@"
