#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# plugins.sh SOURCE_DIR LIBRARY WORK_DIR CXX: plug-ins that link the library (.a or .so) are opened, used by threads, and
# closed before those threads end. Of the static library each has a copy of its own, with its thread-local memory.
set -euo pipefail

source_dir=$1 library=$2 work=$3 compiler=$4
here=$source_dir/tests/packaging/plugins
rm -rf "$work"
mkdir -p "$work"
flags=(-std=c++20 -O1 -fPIC -shared -fvisibility=hidden "-I$source_dir/include" "-I$source_dir/include/txsync/machine/native")
"$compiler" -std=c++20 -O1 "$here/host.cpp" -o "$work/host" -pthread -ldl

plugin() {  # NAME WHAT
  "$compiler" "${flags[@]}" "-DWHAT=$2" "$here/plugin.cpp" "$library" "-Wl,-rpath,$(dirname "$library")" -pthread -o "$work/$1.so"
}
plugin all use_all &
plugin mutex "use_lock<txsync::mutex>" &
plugin shared_mutex "use_lock<txsync::shared_mutex>" &
plugin elided "use_lock<txsync::elided<txsync::mutex>>" &
plugin blocks use_blocks &
wait
for kind in mutex shared_mutex elided blocks all; do
  echo "== $kind: threads end after the plug-in was closed"
  [[ $(timeout 60 "$work/host" 3 "$work/$kind.so") == ended ]]
done
echo "== thread-local memory: a process has some 1,660 bytes for what is loaded late"
for kind in mutex:208 all:520; do
  bytes=$((16#$(readelf -lW "$work/${kind%:*}.so" | awk '$1 == "TLS" { sub("0x", "", $6); print $6 }')))
  echo "${kind%:*}: $bytes bytes"
  ((bytes <= ${kind#*:}))
done

echo "== plug-ins in one process: 6 that use a mutex, 3 that use all; and 20 where the C library is told so"
for i in {1..20}; do
  cp "$work/mutex.so" "$work/mutex$i.so"
  cp "$work/all.so" "$work/all$i.so"
done
[[ $(timeout 60 "$work/host" 3 "$work"/mutex{1..6}.so) == ended ]]
[[ $(timeout 60 "$work/host" 3 "$work"/all{1..3}.so) == ended ]]
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384
[[ $(timeout 60 "$work/host" 3 "$work"/mutex{1..20}.so) == ended ]]
[[ $(timeout 60 "$work/host" 3 "$work"/all{1..20}.so) == ended ]]
rm -f "$work"/mutex?*.so "$work"/all?*.so
