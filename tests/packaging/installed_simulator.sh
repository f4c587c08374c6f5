#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# installed_simulator.sh SOURCE_DIR BUILD_DIR WORK_DIR BUILD_TYPE CXX: installs a whole finished build, as the README
# says, and moves it. The simulated machine is found beside the command. It simulates a user's programs that use txsync,
# made by CMake and by hand.
set -euo pipefail

source_dir=$1 build_dir=$2 work=$3 build_type=$4 compiler=$5
expected="40000 40000 400"

rm -rf "$work"
mkdir -p "$work"
fail() { echo "$*" >&2; exit 1; }

echo "== install, and move what was installed"
cmake --install "$build_dir" --prefix "$work/first" > "$work/log"
mv "$work/first" "$work/moved"
txsync=$work/moved/bin/txsync
# Nothing may come from the build: what is there is a link to the copy's own things or a file.
[[ -z $(find "$work/moved" -type l -lname '/*') ]] || fail "installed links lead out of the copy"

echo "== the command's own images"
"$txsync" sim mapbench --machine haswell-i7-4770 --threads 2 --lock elided_tatas --operations 20 > "$work/sim"
grep -q elided_tatas "$work/sim" || fail "no line of the lock: $(cat "$work/sim")"
"$txsync" explore tatas --schedules 10 > "$work/explore"

# same_result PROGRAM: on the simulated machine it ends as it does natively.
same_result() { local said; said=$("$txsync" sim --machine ideal -- "$1" 2> "$work/told") && [[ $said == "$expected" ]] || { cat "$work/told" >&2; fail "$1"; }; }

echo "== find_package and txsync_simulate"
cmake -S "$source_dir/tests/packaging/consumer" -B "$work/consumer" -G Ninja -DCMAKE_BUILD_TYPE="$build_type" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/moved" -DSIMULATED=ON >> "$work/log"
grep -q "^txsync_DIR:PATH=$work/moved/" "$work/consumer/CMakeCache.txt"
cmake --build "$work/consumer" --target simulated_consumer >> "$work/log" || { cat "$work/log"; exit 1; }
same_result "$work/consumer/simulated_consumer"

echo "== pkg-config and txsync-c++"
export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
read -ra flags <<< "$(pkg-config --cflags --libs txsync)"
"$work/moved/bin/txsync-c++" -std=c++20 -O1 -DSIMULATED "$source_dir/tests/packaging/consumer/main.cpp" "${flags[@]}" -o "$work/by_pkg_config"
same_result "$work/by_pkg_config"

echo "== txsync::explore() needs no option"
cat > "$work/explores.cpp" << 'END'
#include <atomic>
#include <thread>
#include <txsync/explore.hpp>
int main() {
  std::atomic<int> count{0};
  const auto seen = txsync::explore({.schedules = 20}, [&] { std::thread([&] { ++count; }).join(); });
  return seen.schedules == 20 && count > 20 ? 0 : 1;
}
END
"$work/moved/bin/txsync-c++" -std=c++20 -O1 "$work/explores.cpp" -o "$work/explores"
"$work/explores" || fail "an exploration in one process"
