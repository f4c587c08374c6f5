#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LevelDB 1.23 of Debian's source package, unpatched, built by txsync-c++ and run on the simulated machine: puts and gets
# by 1, 2, 4 and 8 threads beside its background thread, plain and with all its mutexes elided, and with the locks of
# leveldb/locks.hpp. Every value is checked. With --build it makes the programs of `txsync lab leveldb-...` instead.
set -uo pipefail

# shellcheck source=integrations/leveldb/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/leveldb/lib.sh"
bin=${TXSYNC_BIN:-$root/build/release/bin}
seeds=24 operations=600 threads="1 2 4 8" machines="broadwell-e5-2697v4 ideal"
programs=$root/build/leveldb-simulated
locks=(sleeping spinning xsync xsync_mutex xsync_uncoarsened plain elided eager)
checked_locks=(xsync elided eager)

usage() {
  cat << END
usage: integrations/${0##*/} [--seeds N] [--operations N] [--source DIRECTORY]
       integrations/${0##*/} --build [--source DIRECTORY]

Without --source the sources come from Debian's archive, by a list of packages of its own. Every third seed runs under
the oracle; seeds beyond the first half run in random and in round-robin order too.
--build: build/leveldb-simulated/leveldb-LOCKS, for the pairs of locks ${locks[*]};
what is newer than the sources here is not made again. txsync lab leveldb-fillseq runs them.
Environment: TXSYNC_BIN, where txsync-c++ and txsync_plain_model are (build/release/bin).
Exit status: 0 every value is right, 1 some are not or a run failed, 2 the command line was wrong.
END
}

compiler=$bin/txsync-c++
# For what uses the locks of leveldb/locks.hpp.
floors=$bin/../lib/txsync/libtxsync-sim-floors.a
ours=(-iquote "$root/integrations/leveldb" "-I$root/include" "-I$root/src/machine/virtual/include" "-I$root/src")

# link OUT USER OBJECTS... -- FLAG...: what uses LevelDB, with it.
link() {
  local out=$1 user=$2 objects=()
  shift 2
  while [[ $1 != -- ]]; do objects+=("$1"); shift; done
  shift
  "$compiler" -g -O2 "$@" "${leveldb_flags[@]}" "-I$source/include" "$user" "${objects[@]}" -o "$out" >> "$out.log" 2>&1
}

must() { "$@" || { tail -n 5 "$made"/*.log >&2; fail "LevelDB does not build"; }; }

# build_with_locks FOLDER USER LOCKS...: FOLDER/leveldb-LOCKS for each. What does not see the locks is compiled once.
build_with_locks() {
  local made=$1 user=$2 lock file
  shift 2
  local flags=(-std=c++20 -g -O2 "${ours[@]}")
  for lock in "$@"; do
    is_newer "$made/leveldb-$lock" && continue
    if [[ ! -e $made/common.done ]]; then
      say "building what LevelDB does without locks"
      leveldb_files "$source" | while read -r file; do sees_locks "$file" || echo "$file"; done \
        | must compile_files "$source" "$made/common" "$compiler" -- "${flags[@]}" -DTXSYNC_LEVELDB_LOCKS=plain \
        || exit 1
      touch "$made/common.done"
    fi
    say "building LevelDB with the locks: $lock"
    leveldb_files "$source" | while read -r file; do ! sees_locks "$file" || echo "$file"; done \
      | must compile_files "$source" "$made/$lock" "$compiler" -- "${flags[@]}" "-DTXSYNC_LEVELDB_LOCKS=$lock" || exit 1
    must link "$made/leveldb-$lock" "$user" "$made/common"/*.o "$made/$lock"/*.o "$floors" -- "${flags[@]}" \
      "-DTXSYNC_LEVELDB_LOCKS=$lock"
  done
}

build() {
  local made=$work
  must compile_leveldb "$source" "$work/pthread" "$compiler" -- -std=c++11 -g -O2
  must link "$work/leveldb-pthread" "$root/tests/sim/leveldb/leveldb.cpp" "$work/pthread"/*.o -- -std=c++17
  build_with_locks "$work" "$root/tests/sim/leveldb/leveldb.cpp" "${checked_locks[@]}"
}

is_newer() {  # FILE
  [[ -e $1 && -z $(find "$root/src" "$root/include" "$root/integrations/leveldb" "$root/benchmarks/leveldb/driver.cpp" \
    "$bin/../lib/txsync" -newer "$1" -print -quit) ]]
}

build_for_benchmark() {
  mkdir -p "$programs"
  rm -f "$programs/common.done"
  [[ -n $source ]] || { fetch_source "$programs" && source=$programs/leveldb-1.23; }
  build_with_locks "$programs" "$root/benchmarks/leveldb/driver.cpp" "${locks[@]}"
  say "leveldb-simulated: built in ${programs#"$root"/}"
}

# one MACHINE THREADS LOCKS ELIDED SEED ORDER ORACLE: prints nothing where all is right.
one() {
  local database status output
  database=$(mktemp -d "$work/database.XXXXXX")
  output=$(TXSYNC_SIM_MODEL=$work/$1.txt TXSYNC_SIM_ELIDE=$4 TXSYNC_SIM_SEED=$5 TXSYNC_SIM_ORDER=$6 TXSYNC_SIM_ORACLE=$7 \
    timeout 120 "$work/leveldb-$3" "$database" "$2" "$operations" "$5" 2>&1)
  status=$?
  rm -rf "$database"
  [[ $status -eq 0 && $output == *" 0 wrong" ]] && return
  printf '%s, %s threads, locks %s, elided %s, seed %s, order %s, oracle %s: status %s: %s\n' "$@" "$status" \
    "$(head -3 <<< "$output" | tr '\n' ' ')"
}

runs() {
  local machine count kind seed
  for machine in $machines; do
    for count in $threads; do
      for kind in "pthread 0" "pthread 1" "${checked_locks[@]/%/ 0}"; do
        for ((seed = 1; seed <= seeds; ++seed)); do
          printf '%s %s %s %s 0 %s\n' "$machine" "$count" "$kind" "$seed" $((seed % 3 == 0))
          ((seed * 2 > seeds)) && printf '%s %s %s %s %s 0\n' "$machine" "$count" "$kind" "$seed" $((seed % 2 == 0 ? 1 : 3))
        done
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
work=$(mktemp -d "${TMPDIR:-/tmp}/txsync-leveldb.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
[[ -n $source ]] || { fetch_source "$work" && source=$work/leveldb-1.23; }
for machine in $machines; do
  "$bin/txsync_plain_model" "$root/machines/$machine.toml" "$work/$machine.txt" || exit 1
done
say "building LevelDB"
build
runs > "$work/runs"
say "$(wc -l < "$work/runs") runs of $operations operations for each thread"
export -f one
export work operations
xargs -P 2 -L 1 bash -c 'one "$@"' - < "$work/runs" > "$work/wrong"
if [[ -s $work/wrong ]]; then
  cat "$work/wrong"
  say "leveldb-simulated: $(wc -l < "$work/wrong") of $(wc -l < "$work/runs") runs are not right"
  exit 1
fi
say "leveldb-simulated: every value is right, and the oracle silent, in $(wc -l < "$work/runs") runs"
