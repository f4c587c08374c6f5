#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# RocksDB's db_bench: writes by one thread with a seed, while flushes and compactions run beside; then readers beside a
# writer. What the database holds after the first part must be the same, whatever the locks.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(rocksdb-tools)

prepare() { :; }

run_program() {
  local data=$work/data
  rm -rf "$data"
  "${under[@]}" db_bench --benchmarks=fillrandom --num=50000 --seed=7 --threads=1 --write_buffer_size=1000000 \
    --compression_type=none --db="$data" || return 1
  ldb --db="$data" scan --hex > "$work/scan" || return 1
  "${under[@]}" db_bench --benchmarks=readwhilewriting,readrandom --use_existing_db=1 --num=50000 --reads=20000 --threads=4 \
    --compression_type=none --db="$data" || return 1
  ldb --db="$data" checkconsistency > "$work/consistency" || return 1
  { wc -l < "$work/scan"; md5sum < "$work/scan"; cat "$work/consistency"; } > "$1"
}

integration rocksdb "$@"
