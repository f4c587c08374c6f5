#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# copies.sh SOURCE_DIR LIBRARY WORK_DIR CXX: two copies of the static library in one process are reported in one line,
# in whatever files they are. Two users of the shared library are not reported.
set -euo pipefail

source_dir=$1 library=$2 work=$3 compiler=$4
here=$source_dir/tests/packaging/copies
rm -rf "$work"
mkdir -p "$work"
flags=(-std=c++20 -O0 "-I$source_dir/include" "-I$source_dir/include/txsync/machine/native")
build() {  # NAME SOURCE FLAG...
  local name=$1 source=$2
  shift 2
  "$compiler" "${flags[@]}" "$here/$source" "$@" -pthread -ldl -o "$work/$name"
}
as_plugin=(-fPIC -shared -fvisibility=hidden)
shared=$library
if [[ $library == *.a ]]; then
  shared=$work/libtxsync.so
  "$compiler" -shared -Wl,--whole-archive "$library" -Wl,--no-whole-archive -pthread -o "$shared"
fi
at_shared=("$shared" "-Wl,-rpath,$(dirname "$shared")")

run() {  # EXPECTED_LINES PROGRAM PLUGIN...
  local expected=$1 program=$2
  shift 2
  local plugins=("${@/#/$work/}")
  local said
  said=$(timeout 60 "$work/$program" "${plugins[@]/%/.so}" 2> "$work/told") && [[ $said == ended ]] || { cat "$work/told" >&2; exit 1; }
  [[ $(wc -l < "$work/told") == "$expected" ]] || { echo "$program $*: $expected lines expected, but:" >&2; cat "$work/told" >&2; exit 1; }
}
says() { grep -qF -- "$1" "$work/told" || { echo "'$1' is missing in:" >&2; cat "$work/told" >&2; exit 1; }; }

build shared_host host.cpp -DSHARES "${at_shared[@]}" &
build shared.so plugin.cpp "${as_plugin[@]}" -DWITH_BLOCKS "${at_shared[@]}" &
build stranger host.cpp &
wait
echo "== users of the shared library"
run 0 shared_host shared
[[ $library == *.a ]] || exit 0

build host host.cpp -DSHARES "$library" -Wl,--gc-sections -s &
build blocks.so plugin.cpp "${as_plugin[@]}" -DWITH_BLOCKS "$library" -ffunction-sections -Wl,--gc-sections -s &
build lock.so plugin.cpp "${as_plugin[@]}" "$library" &
build separate.so plugin.cpp "${as_plugin[@]}" -DSEPARATE "$library" &
wait
echo "== host and plug-in: both are named, once, and what to do; nothing is said of one copy"
run 0 host
run 1 host blocks lock
says "txsync: two copies of the library are in this process, $work/blocks.so ("
says " and $work/host ("
says "lose updates of a tm::var"
says "Link libtxsync.so in both"
echo "== two plug-ins of a host that knows nothing of txsync; a static copy beside the shared library"
run 0 stranger lock
run 1 stranger blocks lock
says "$work/lock.so ("
run 1 shared_host lock
says "$shared ("
echo "== those that share nothing say so, or their user does"
run 0 host separate
run 0 stranger lock separate
TXSYNC_COPIES=separate run 0 host blocks
TXSYNC_COPIES=none run 2 host blocks
says "txsync: TXSYNC_COPIES: unknown value 'none'; allowed: separate"
echo "== loaded with the program"
"$compiler" "${flags[@]}" -DSHARES "$here/host.cpp" "$library" -Wl,--no-as-needed "$work/lock.so" "$work/blocks.so" "-Wl,-rpath,$work" \
  -pthread -ldl -o "$work/early"
run 1 early
echo "== of two versions"
"$compiler" "${flags[@]}" "${as_plugin[@]}" -DTXSYNC_VERSION='"0.0.7"' "$here/plugin.cpp" "$source_dir/src/machine/native/copies.cpp" \
  "$library" -pthread -o "$work/old.so"
run 1 host old
says "$work/old.so (0.0.7)"
says "As the versions differ"
