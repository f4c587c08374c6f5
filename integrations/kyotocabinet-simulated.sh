#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kyoto Cabinet 1.2.79 of Debian's source package, unpatched, built by txsync-c++ and run on the simulated machine: random
# operations on its tree over its cache by 1, 2, 4 and 8 threads, under each of the locks that the always-abort paper
# compares. Every value that is read, and all that is left, is checked. With --build it makes the program of
# `txsync lab kyotocabinet` instead.
set -uo pipefail

# shellcheck source=integrations/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
bin=${TXSYNC_BIN:-$root/build/release/bin}
seeds=6 operations=2000 threads="1 2 4 8" machine=broadwell-e5-2697v4
program=$root/build/kyotocabinet-simulated/grass
policies=("" "rwlock=as-mutex" "rwlock=as-mutex lock=tatas" "rwlock=as-mutex lock=tatas warm_up=paper"
  "rwlock=as-mutex lock=priority-tatas warm_up=paper-priority"
  "rwlock=as-mutex lock=fifo-ticket" "rwlock=as-mutex lock=fifo-ticket warm_up=paper-ticket"
  "rwlock=as-mutex lock=ticket warm_up=standard" "rwlock=as-mutex lock=tatas elision=htm-10")

usage() {
  cat << END
usage: integrations/${0##*/} [--seeds N] [--operations N] [--source DIRECTORY]
       integrations/${0##*/} --build [--source DIRECTORY]

Without --source the sources come from Debian's archive, by a list of packages of its own. Every third seed runs under
the oracle; seeds beyond the first half run in random order.
--build: build/kyotocabinet-simulated/grass; it is not made again where nothing is newer. txsync lab kyotocabinet
runs it.
Environment: TXSYNC_BIN, where txsync-c++ and txsync_plain_model are (build/release/bin).
Exit status: 0 every value is right, 1 some are not or a run failed, 2 the command line was wrong.
END
}

# What GrassDB is made of, and what the library's configure would say on Linux.
files=(kcutil kcthread kcfile kccompress kccompare kcmap kcdb kcplantdb kccachedb)
flags=(-g -O2 -w -m64 -fsigned-char -DNDEBUG -D_GNU_SOURCE=1 -D_FILE_OFFSET_BITS=64 -D_REENTRANT -D__EXTENSIONS__
  -D_MYGCCATOMIC)

build() {  # FOLDER OUT
  local objects=$1/objects
  rm -rf "$objects"
  mkdir -p "$objects"
  say "building Kyoto Cabinet"
  # shellcheck disable=SC2016
  printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I FILE sh -c 'file=$1 objects=$2 source=$3; shift 3
    "$@" "-I$source" -c "$source/$file.cc" -o "$objects/$file.o"' \
    - FILE "$objects" "$source" "$bin/txsync-c++" "${flags[@]}" > "$1/build.log" 2>&1 \
    && "$bin/txsync-c++" "${flags[@]}" -std=c++20 "-I$source" "-I$root/include" "-I$root/src/machine/virtual/include" \
      "-I$root/src" "$root/benchmarks/kyotocabinet/driver.cpp" "$objects"/*.o -o "$2" >> "$1/build.log" 2>&1 \
    || { tail -n 5 "$1/build.log" >&2; fail "Kyoto Cabinet does not build"; }
}

get_source() { [[ -n $source ]] || { fetch_debian_source "$1" kyotocabinet 1.2.79 1.2.79-2 && source=$1/kyotocabinet-1.2.79; }; }

build_for_benchmark() {
  mkdir -p "${program%/*}"
  if [[ -e $program && -z $(find "$root/src" "$root/include" "$root/benchmarks/kyotocabinet/driver.cpp" \
    "$bin/../lib/txsync" -newer "$program" -print -quit) ]]; then
    return
  fi
  get_source "${program%/*}"
  build "${program%/*}" "$program"
  say "kyotocabinet-simulated: built in ${program%/*}"
}

# one THREADS SEED ORDER ORACLE POLICY: prints nothing where all is right.
one() {
  local status output
  output=$(TXSYNC_SIM_MODEL=$work/model.txt TXSYNC_SIM_LOCKS=$5 TXSYNC_SIM_SEED=$2 TXSYNC_SIM_ORDER=$3 \
    TXSYNC_SIM_ORACLE=$4 timeout 120 "$work/grass" "$1" "$operations" 1500 "$2" 2>&1)
  status=$?
  [[ $status -eq 0 && $output == *"wrong 0" ]] && return
  printf '%s threads, seed %s, order %s, oracle %s, %s: status %s: %s\n' "$@" "$status" "$(head -3 <<< "$output" | tr '\n' ' ')"
}

runs() {
  local count policy seed
  for count in $threads; do
    for policy in "${policies[@]}"; do
      for ((seed = 1; seed <= seeds; ++seed)); do
        printf "%s %s %s %s '%s'\n" "$count" "$seed" $((seed * 2 > seeds)) $((seed % 3 == 0)) "$policy"
      done
    done
  done
}

source='' for_benchmark=0
while [[ $# -gt 0 ]]; do
  case $1 in
    --seeds | --operations | --source) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; declare "${1#--}=$2"; shift 2 ;;
    --build) for_benchmark=1; shift ;;
    -h | --help) usage; exit 0 ;;
    *) printf "%s: '%s' is not an option; see --help\n" "${0##*/}" "$1" >&2; exit 2 ;;
  esac
done
[[ -x $bin/txsync-c++ && -x $bin/txsync_plain_model ]] || fail "no txsync-c++ in $bin; build it (./dev build)"
if [[ $for_benchmark -eq 1 ]]; then
  build_for_benchmark
  exit
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/txsync-kyotocabinet.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
get_source "$work"
"$bin/txsync_plain_model" "$root/machines/$machine.toml" "$work/model.txt" || exit 1
build "$work" "$work/grass"
runs > "$work/runs"
say "$(wc -l < "$work/runs") runs of $operations operations"
export -f one
export work operations
xargs -P 2 -L 1 bash -c 'one "$@"' - < "$work/runs" > "$work/wrong"
if [[ -s $work/wrong ]]; then
  cat "$work/wrong"
  say "kyotocabinet-simulated: $(wc -l < "$work/wrong") of $(wc -l < "$work/runs") runs are not right"
  exit 1
fi
say "kyotocabinet-simulated: every value is right, and the oracle silent, in $(wc -l < "$work/runs") runs"
