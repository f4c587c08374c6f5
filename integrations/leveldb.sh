#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LevelDB 1.23 of Debian's source package, unpatched, built three times for this machine: as it is, with txsync's mutex and
# condition variable (leveldb/port/port_stdcxx.h), and with elided ones, which elide where hardware transactions work.
# LevelDB's own tests run on the second and the third; the driver of the benchmark (benchmarks/leveldb) is linked with all.
set -uo pipefail

# shellcheck source=integrations/leveldb/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/leveldb/lib.sh"
library=${TXSYNC_LIBRARY:-$root/build/release/src/libtxsync.a}
work=$root/build/leveldb
tests="db_test fault_injection_test c_test env_posix_test"
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev)
source='' with_tests=1

usage() {
  cat << END
usage: integrations/${0##*/} [--source DIRECTORY] [--no-tests]

Without --source the sources come from Debian's archive, once, by a list of packages of its own. What is built is in
build/leveldb: the programs leveldb-stock, leveldb-txsync and leveldb-txsync-elided, and LevelDB's own tests on both kinds
of txsync's locks: $tests.
./dev bench leveldb builds them (--no-tests) and measures them side by side.
Installs by apt, as root, what the tests need: ${test_packages[*]}.
Environment: TXSYNC_LIBRARY, the library to link (build/release/src/libtxsync.a); TXSYNC_INTEGRATION_LIMIT, seconds a test
may take.
Exit status: 0 built, and the tests pass; 1 something failed; 2 the command line was wrong.
END
}

compiler=(g++)
command -v ccache > /dev/null && compiler=(ccache g++)
# The same for all, so that they differ in nothing but the lock.
common=(-std=c++20 -O2 -pthread)
ours=("-I$root/include" "-I$root/include/txsync/machine/native" "-I$root/src")
# The builds with txsync's locks, and which pair of leveldb/locks.hpp each has.
declare -A locks=([txsync]=plain [txsync-elided]=elided)

# build stock|txsync|txsync-elided FLAG...
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
check_locks() {  # KIND
  ! nm -C --undefined-only "$work/$1"/*.o | grep -E 'pthread_mutex|std::condition_variable|pthread_cond' \
    || fail "the build $1 uses other locks too"
}

# test_program KIND NAME: compiled and linked with what its file needs, in $work/tests/KIND.
test_program() {
  local kind=$1 name=$2 files=() file language=() made=$work/tests/$1
  case $name in
    c_test) files=(db/c_test.c) ;;
    env_posix_test) files=(util/env_posix_test.cc util/testutil.cc helpers/memenv/memenv.cc) ;;
    *) files=("db/$name.cc" util/testutil.cc helpers/memenv/memenv.cc) ;;
  esac
  local objects=()
  for file in "${files[@]}"; do
    language=("${compiler[@]}" "${common[@]}")
    [[ $file != *.c ]] || language=(gcc -O2)
    objects+=("$made/$(basename "$file").o")
    [[ $file == "${files[0]}" || ! -e ${objects[-1]} ]] || continue
    "${language[@]}" -iquote "$root/integrations/leveldb" "${ours[@]}" "-DTXSYNC_LEVELDB_LOCKS=${locks[$kind]}" \
      "-I$source" "-I$source/include" "${leveldb_flags[@]}" -fexceptions -c "$source/$file" -o "${objects[-1]}" || return
  done
  g++ -pthread "${objects[@]}" "$work/$kind"/*.o "$library" -lbenchmark -lgmock -lgtest -o "$made/$name"
}

# one_test KIND NAME: says how it went. DBTest.HiddenValuesAreRemoved is a race of LevelDB's own (google/leveldb issue 188),
# lost by LevelDB as it is too: where it alone has failed the program runs again, twice at most, and that is said. Any other
# failure, and a program that crashes or hangs, is one.
one_test() {
  local kind=$1 name=$2 log=$work/tests/$1/$2.log round status failed='' told=''
  for round in 1 2 3; do
    TEST_TMPDIR=$work/tests/data timeout -k 5 "$limit" "$work/tests/$kind/$name" > "$log" 2>&1
    status=$?
    if [[ $status -eq 0 ]]; then
      printf '  %-14s %-22s %s%s\n' "$kind" "$name" "$(grep -E '^\[  PASSED  \]|^PASS' "$log" | tail -1)" "$told"
      return 0
    fi
    failed=$(failed_tests "$log")
    told+="; run $round failed: ${failed//$'\n'/ }"
    [[ $status -eq 1 && $failed == DBTest.HiddenValuesAreRemoved ]] || break
  done
  printf '  %-14s %-22s failed, status %s%s\n' "$kind" "$name" "$status" "$told"
  return 1
}

failed_tests() { grep -oE '^\[  FAILED  \] [A-Za-z]+\.[A-Za-z0-9]+' "$1" | cut -c14- | sort -u; }

run_tests() {
  local kind name failures=0 log
  # shellcheck disable=SC2034  # read by install_packages
  packages=("${test_packages[@]}")
  install_packages
  rm -rf "$work/tests"
  mkdir -p "$work/tests/data"
  for kind in "${!locks[@]}"; do
    mkdir -p "$work/tests/$kind"
    for name in $tests; do
      log=$work/tests/$kind/$name.log
      test_program "$kind" "$name" > "$log" 2>&1 || { tail -5 "$log" >&2; fail "$name does not build ($kind)"; }
      one_test "$kind" "$name" || failures=$((failures + 1))
    done
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
for kind in "${!locks[@]}"; do
  say "building LevelDB with txsync's locks: ${locks[$kind]}"
  build "$kind" -iquote "$root/integrations/leveldb" "${ours[@]}" "-DTXSYNC_LEVELDB_LOCKS=${locks[$kind]}"
  check_locks "$kind"
done
[[ $with_tests -eq 0 ]] || run_tests
say "leveldb: built in ${work#"$root"/}"
