#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# qemu-img: coroutines on stacks of its own that a pool of threads serves. An image is written, copied out of order by eight
# coroutines, compressed, and compared.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(qemu-utils)
policies=(none mutex ticket)
most_waiting=3

prepare() { seq 3000000 > "$work/plain"; truncate -s 32M "$work/plain"; }

run_program() {
  rm -f "$work"/made.*
  {
    "${under[@]}" qemu-img convert -q -W -m 8 -f raw -O qcow2 "$work/plain" "$work/made.1" && echo written \
      && "${under[@]}" qemu-img convert -q -c -m 8 -f qcow2 -O qcow2 "$work/made.1" "$work/made.2" && echo compressed \
      && "${under[@]}" qemu-img bench -q -w -c 3000 -d 16 -s 4k -t writeback -i threads -f qcow2 "$work/made.1" | grep -v seconds \
      && "${under[@]}" qemu-img compare -f raw -F qcow2 "$work/plain" "$work/made.2" \
      && "${under[@]}" qemu-img check -f qcow2 "$work/made.2" | grep -v offset
    echo "exit status $?"
    "${under[@]}" qemu-img convert -q -m 8 -f qcow2 -O raw "$work/made.2" "$work/made.3" && sha256sum < "$work/made.3"
  } > "$1"
}

integration qemu-img "$@"
