#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# plugins.sh SOURCE_DIR LIBRARY WORK_DIR CXX: plug-ins that link the library are opened, used by threads, and closed.
# Then they are opened, used and closed again, all before those threads end. With the static library each has a copy of
# its own, with its thread-local memory. If LIBRARY is the static one, the shared one is linked from it, as
# src/CMakeLists.txt does.
set -euo pipefail

source_dir=$1 library=$2 work=$3 compiler=$4
here=$source_dir/tests/packaging/plugins
rm -rf "$work"
mkdir -p "$work"
flags=(-std=c++20 -O1 -fPIC -fvisibility=hidden "-I$source_dir/include" "-I$source_dir/include/txsync/machine/native")
"$compiler" -std=c++20 -O1 "$here/host.cpp" -o "$work/host" -pthread -ldl
shared=$library
if [[ $library == *.a ]]; then
  shared=$work/libtxsync.so
  "$compiler" -shared -Wl,--whole-archive "$library" -Wl,--no-whole-archive -pthread -o "$shared" \
    "-Wl,--version-script=$source_dir/src/exports.map" -Wl,-soname,libtxsync.so
fi

link() {  # NAME LIBRARY OPTION...
  local name=$1 with=$2
  shift 2
  "$compiler" -shared "$work/${name%.shared}.o" "$with" "$@" "-Wl,-rpath,$(dirname "$with")" -pthread -o "$work/$name.so"
}
plugin() {  # NAME WHAT
  "$compiler" "${flags[@]}" "-DWHAT=$2" -c "$here/plugin.cpp" -o "$work/$1.o"
  # Sites and blocks have to stay, which the shared library lists: as its CMake target and txsync.pc make them.
  local stays=()
  [[ $2 == use_lock* ]] || stays=(-Wl,-z,nodelete)
  link "$1.shared" "$shared" "${stays[@]}"
  [[ $library != *.a ]] || link "$1" "$library"
}
plugin all use_all &
plugin mutex "use_lock<txsync::mutex>" &
plugin shared_mutex "use_lock<txsync::shared_mutex>" &
plugin elided "use_lock<txsync::elided<txsync::mutex>>" &
plugin blocks use_blocks &
plugin sites use_sites &
wait

ends() {  # PLUGIN...
  local said
  said=$(timeout 60 "$work/host" 3 "${@/#/$work/}") && [[ $said == ended ]] || { echo "plugins.sh: failed: $*" >&2; return 1; }
}
for kind in mutex shared_mutex elided blocks sites all; do
  echo "== $kind: threads end after the plug-in was closed, opened again, and closed"
  ends "$kind.shared.so"
  [[ $library != *.a ]] || ends "$kind.so"
done
thread_local_bytes() { echo $((16#$(readelf -lW "$1" | awk '$1 == "TLS" { sub("0x", "", $6); print $6 }'))); }
echo "== thread-local memory: a process has some 1,660 bytes for what is loaded late"
bytes=$(thread_local_bytes "$shared")
echo "libtxsync.so: $bytes bytes"
((bytes <= 552))

echo "== 20 plug-ins in one process have one copy of the shared library"
for i in {1..20}; do cp "$work/all.shared.so" "$work/all$i.shared.so"; done
ends all{1..20}.shared.so mutex.shared.so sites.shared.so
rm -f "$work"/all?*.so
[[ $library == *.a ]] || exit 0

for kind in mutex:224 all:536; do
  bytes=$(thread_local_bytes "$work/${kind%:*}.so")
  echo "${kind%:*}: $bytes bytes"
  ((bytes <= ${kind#*:}))
done
echo "== static copies in one process: 6 that use a mutex, 3 that use all; and 20 where the C library is told so"
for i in {1..20}; do
  cp "$work/mutex.so" "$work/mutex$i.so"
  cp "$work/all.so" "$work/all$i.so"
done
ends mutex{1..6}.so
ends all{1..3}.so
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384
ends mutex{1..20}.so
ends all{1..20}.so
rm -f "$work"/mutex?*.so "$work"/all?*.so
