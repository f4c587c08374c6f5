#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# plugins.sh SOURCE_DIR LIBRARY WORK_DIR CXX: plug-ins that link the library (.a or .so) are opened, used by threads, and
# closed before those threads end. Of the static library each has a copy; 20 of them have room in one process.
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
