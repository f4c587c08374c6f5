#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LevelDB 1.23 of Debian's source package, unpatched, built twice for this machine: as it is, and with txsync's mutex and
# condition variable (leveldb/port/port_stdcxx.h). LevelDB's own tests run on the second; the driver of the benchmark
# (benchmarks/leveldb) is linked with both.
set -uo pipefail

# shellcheck source=integrations/leveldb/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/leveldb/lib.sh"
library=${TXSYNC_LIBRARY:-$root/build/release/src/libtxsync.a}
work=$root/build/leveldb
tests="db_test fault_injection_test c_test env_posix_test"
source='' with_tests=1

usage() {
  cat << END
usage: integrations/${0##*/} [--source DIRECTORY] [--no-tests]

Without --source the sources come from Debian's archive, once, by a list of packages of its own. What is built is in
build/leveldb: the programs leveldb-stock and leveldb-txsync, and LevelDB's own tests: $tests.
Environment: TXSYNC_LIBRARY, the library to link (build/release/src/libtxsync.a); TXSYNC_INTEGRATION_LIMIT, seconds a test
may take.
Exit status: 0 built, and the tests pass; 1 something failed; 2 the command line was wrong.
END
}

compiler=(g++)
command -v ccache > /dev/null && compiler=(ccache g++)
# The same for both, so that they differ in nothing but the lock.
common=(-std=c++20 -O2 -pthread)
ours=("-I$root/include" "-I$root/include/txsync/machine/native" "-I$root/src" -DTXSYNC_LEVELDB_LOCKS=plain)

# build stock|txsync FLAG...
build() {
  local kind=$1
  shift
  compile_leveldb "$source" "$work/$kind" "${compiler[@]}" -- "${common[@]}" "$@" \
    && "${compiler[@]}" "${common[@]}" "${ours[@]}" "-I$source/include" -c "$root/benchmarks/leveldb/driver.cpp" \
      -o "$work/driver-$kind.o" >> "$work/$kind.log" 2>&1 \
    && g++ -pthread "$work/driver-$kind.o" "$work/$kind"/*.o "$library" -o "$work/leveldb-$kind" >> "$work/$kind.log" 2>&1 \
    || { tail -5 "$work/$kind.log" >&2; fail "LevelDB ($kind) does not build"; }
}

# What it is about: no lock of the standard library's is left.
check_locks() {
  ! nm -C --undefined-only "$work"/txsync/*.o | grep -E 'pthread_mutex|std::condition_variable|pthread_cond' \
    || fail "the build with txsync's locks uses others too"
}

# test_program NAME: compiled and linked with what its file needs.
test_program() {
  local name=$1 files=() file language=()
  case $name in
    c_test) files=(db/c_test.c) ;;
    env_posix_test) files=(util/env_posix_test.cc util/testutil.cc helpers/memenv/memenv.cc) ;;
    *) files=("db/$name.cc" util/testutil.cc helpers/memenv/memenv.cc) ;;
  esac
  local objects=()
  for file in "${files[@]}"; do
    language=("${compiler[@]}" "${common[@]}")
    [[ $file != *.c ]] || language=(gcc -O2)
    objects+=("$work/tests/$(basename "$file").o")
    [[ $file == "${files[0]}" || ! -e ${objects[-1]} ]] || continue
    "${language[@]}" -iquote "$root/integrations/leveldb" "${ours[@]}" "-I$source" "-I$source/include" "${leveldb_flags[@]}" \
      -fexceptions -c "$source/$file" -o "${objects[-1]}" || return
  done
  g++ -pthread "${objects[@]}" "$work"/txsync/*.o "$library" -lbenchmark -lgmock -lgtest -o "$work/tests/$name"
}

# one_test NAME: says how it went. DBTest.HiddenValuesAreRemoved is a race of LevelDB's own (google/leveldb issue 188), lost by
# LevelDB as it is too; so a program that fails runs again, twice at most, and that is said.
one_test() {
  local name=$1 log=$work/tests/$1.log round status failed=
  for round in 1 2 3; do
    TEST_TMPDIR=$work/tests/data timeout -k 5 "$limit" "$work/tests/$name" > "$log" 2>&1
    status=$?
    if [[ $status -eq 0 ]]; then
      printf '  %-22s %s%s\n' "$name" "$(grep -E '^\[  PASSED  \]|^PASS' "$log" | tail -1)" "$failed"
      return 0
    fi
    failed="; run $round failed: $(grep -oE '^\[  FAILED  \] [A-Za-z]+\.[A-Za-z0-9]+' "$log" | sort -u | cut -c14- | tr '\n' ' ')"
  done
  printf '  %-22s failed, status %s%s\n' "$name" "$status" "$failed"
  return 1
}

run_tests() {
  local name failures=0 log
  # shellcheck disable=SC2034  # read by install_packages
  packages=(libgtest-dev libgmock-dev libbenchmark-dev)
  install_packages
  rm -rf "$work/tests"
  mkdir -p "$work/tests/data"
  for name in $tests; do
    log=$work/tests/$name.log
    test_program "$name" > "$log" 2>&1 || { tail -5 "$log" >&2; fail "$name does not build"; }
    one_test "$name" || failures=$((failures + 1))
  done
  rm -rf "$work/tests/data"
  [[ $failures -eq 0 ]] || fail "$failures of LevelDB's own tests fail"
}

while [[ $# -gt 0 ]]; do
  case $1 in
    --source) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; source=$2; shift 2 ;;
    --no-tests) with_tests=0; shift ;;
    -h | --help) usage; exit 0 ;;
    *) printf "%s: '%s' is not an option; see --help\n" "${0##*/}" "$1" >&2; exit 2 ;;
  esac
done
[[ -e $library ]] || fail "no library at $library; build it (./dev build) or name it: TXSYNC_LIBRARY=FILE"
mkdir -p "$work"
[[ -n $source ]] || { fetch_source "$work" && source=$work/leveldb-1.23; }
say "building LevelDB as it is"
build stock
say "building LevelDB with txsync's mutex and condition variable"
build txsync -iquote "$root/integrations/leveldb" "${ours[@]}"
check_locks
[[ $with_tests -eq 0 ]] || run_tests
say "leveldb: built in ${work#"$root"/}"
