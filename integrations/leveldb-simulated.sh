#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LevelDB 1.23 of Debian's source package, unpatched, built by txsync-c++ and run on the simulated machine: puts and gets
# by 1, 2, 4 and 8 threads beside its background thread, plain and with all its mutexes elided. Every value is checked.
set -uo pipefail

# shellcheck source=integrations/leveldb/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/leveldb/lib.sh"
bin=${TXSYNC_BIN:-$root/build/release/bin}
seeds=24 operations=600 threads="1 2 4 8" machines="broadwell-e5-2697v4 ideal"

usage() {
  cat << END
usage: integrations/${0##*/} [--seeds N] [--operations N] [--source DIRECTORY]

Without --source the sources come from Debian's archive, by a list of packages of its own. Every third seed runs under
the oracle; seeds beyond the first half run in random and in round-robin order too.
Environment: TXSYNC_BIN, where txsync-c++ and txsync_plain_model are (build/release/bin).
Exit status: 0 every value is right, 1 some are not or a run failed, 2 the command line was wrong.
END
}

build() {
  local compiler=$bin/txsync-c++
  compile_leveldb "$source" "$work/objects" "$compiler" -- -std=c++11 -g -O2 \
    && "$compiler" -std=c++17 -g -O2 "${leveldb_flags[@]}" "-I$source/include" "$root/tests/sim/leveldb/leveldb.cpp" \
      "$work"/objects/*.o -o "$work/leveldb" >> "$work/objects.log" 2>&1 \
    || { tail -5 "$work/objects.log" >&2; fail "LevelDB does not build"; }
}

# one MACHINE THREADS ELIDED SEED ORDER ORACLE: prints nothing where all is right.
one() {
  local database status output
  database=$(mktemp -d "$work/database.XXXXXX")
  output=$(TXSYNC_SIM_MODEL=$work/$1.txt TXSYNC_SIM_ELIDE=$3 TXSYNC_SIM_SEED=$4 TXSYNC_SIM_ORDER=$5 TXSYNC_SIM_ORACLE=$6 \
    timeout 120 "$work/leveldb" "$database" "$2" "$operations" "$4" 2>&1)
  status=$?
  rm -rf "$database"
  [[ $status -eq 0 && $output == *" 0 wrong" ]] && return
  printf '%s, %s threads, elided %s, seed %s, order %s, oracle %s: status %s: %s\n' "$@" "$status" \
    "$(head -3 <<< "$output" | tr '\n' ' ')"
}

runs() {
  local machine count elided seed
  for machine in $machines; do
    for count in $threads; do
      for elided in 0 1; do
        for ((seed = 1; seed <= seeds; ++seed)); do
          printf '%s %s %s %s 0 %s\n' "$machine" "$count" "$elided" "$seed" $((seed % 3 == 0))
          ((seed * 2 > seeds)) && printf '%s %s %s %s %s 0\n' "$machine" "$count" "$elided" "$seed" $((seed % 2 == 0 ? 1 : 3))
        done
      done
    done
  done
}

source=
while [[ $# -gt 0 ]]; do
  case $1 in
    --seeds | --operations | --source) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; declare "${1#--}=$2"; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) printf "%s: '%s' is not an option; see --help\n" "${0##*/}" "$1" >&2; exit 2 ;;
  esac
done
[[ -x $bin/txsync-c++ && -x $bin/txsync_plain_model ]] || fail "no txsync-c++ in $bin; build it (./dev build)"
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
