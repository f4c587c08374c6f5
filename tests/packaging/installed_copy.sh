#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# installed_copy.sh SOURCE_DIR BUILD_DIR WORK_DIR static|shared BUILD_TYPE CXX [LAUNCHER]
# BUILD_DIR is a finished build of that kind; empty: one is made. Installs txsync into a fresh directory, then builds and
# runs a project that finds it there, by find_package and by pkg-config. The installed copy is moved once, so that it
# holds no path of the place where it was made.
set -euo pipefail

source_dir=$1 build_dir=$2 work=$3 kind=$4 build_type=$5 compiler=$6 launcher=${7:-}
expected="40000 40000 400"
case $kind in
  static) shared=OFF library=libtxsync.a ;;
  shared) shared=ON library=libtxsync.so ;;
  *) echo "installed_copy.sh: '$kind' is not a kind of library; allowed: static, shared" >&2; exit 2 ;;
esac

rm -rf "$work"
mkdir -p "$work"
common=(-G Ninja -DCMAKE_BUILD_TYPE="$build_type" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher")

if [[ -z $build_dir ]]; then
  echo "== build ($kind)"
  build_dir=$work/build
  # README's commands for the library alone, for this kind of library. One unity build takes half of the time.
  read -ra recipe <<< "$(sed -n '/^    cmake -B build\/library /,/[^\\]$/p' "$source_dir/README.md" | tr -d '\\\n')"
  [[ " ${recipe[*]} " == *" -DCMAKE_BUILD_TYPE=Release "* ]] || { echo "README.md does not say how to build the library alone" >&2; exit 1; }
  recipe=("${recipe[@]/#build\/library/$build_dir}")
  (cd "$source_dir" && "${recipe[@]}" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
    -DBUILD_SHARED_LIBS=$shared -DCMAKE_UNITY_BUILD=ON) > "$work/log"
  echo "== before it is built, nothing is installed, and it is said what to do"
  if cmake --install "$build_dir" --prefix "$work/first" > "$work/told" 2>&1; then echo "what is not there was installed" >&2; exit 1; fi
  tr -s ' \n' '  ' < "$work/told" | grep -q "Missing: $library[.0-9]* Build first: cmake --build $build_dir" || { cat "$work/told" >&2; exit 1; }
  [[ ! -e $work/first ]] || { echo "half of it was installed" >&2; exit 1; }
  cmake --build "$build_dir" >> "$work/log" || { cat "$work/log"; exit 1; }
  if grep 'warning:' "$work/log" >&2; then echo "these are warnings to users" >&2; exit 1; fi
fi

echo "== install, and move what was installed"
cmake --install "$build_dir" --prefix "$work/first" --component development >> "$work/log"
[[ -e $work/first/lib/$library ]] || { echo "no $library was installed" >&2; exit 1; }
mv "$work/first" "$work/moved"

echo "== pkg-config"
export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
read -ra flags <<< "$(pkg-config --cflags --libs txsync)"
"$compiler" -std=c++20 -O1 "$source_dir/tests/packaging/consumer/main.cpp" "${flags[@]}" "-Wl,-rpath,$work/moved/lib" \
  -o "$work/by_pkg_config"
said=$("$work/by_pkg_config") && [[ $said == "$expected" ]]

echo "== the headers know the standard library that they were built with"
built_with=$work/moved/include/txsync/machine/native/txsync_backend/built_with.hpp
grep -q '^#define TXSYNC_BUILT_WITH_LIBCXX [01]$' "$built_with"
echo "== and whether the library has assertions, which a user cannot change"
has=$(sed -n 's/^#define TXSYNC_BUILT_WITH_ASSERTIONS \([01]\)$/\1/p' "$built_with")
said=$(echo '#include <txsync/mutex.hpp>' | "$compiler" -std=c++20 "${flags[@]}" "-DTXSYNC_ASSERTIONS=$((1 - has))" -E -x c++ - 2>&1 > "$work/none" || true)
[[ $said == *"built with another value of TXSYNC_ASSERTIONS"* ]] || { echo "with another value it says: ${said:-nothing}" >&2; exit 1; }

echo "== find_package"
cmake -S "$source_dir/tests/packaging/consumer" -B "$work/consumer" "${common[@]}" -DCMAKE_PREFIX_PATH="$work/moved" >> "$work/log"
grep -q "^txsync_DIR:PATH=$work/moved/" "$work/consumer/CMakeCache.txt"
cmake --build "$work/consumer" >> "$work/log" || { cat "$work/log"; exit 1; }
said=$("$work/consumer/consumer") && [[ $said == "$expected" ]]
if cmake "$work/consumer" -DPARTS=locks > "$work/told" 2>&1; then echo "a component that is none was found" >&2; exit 1; fi
grep -q "txsync has no component 'locks'" "$work/told" || { cat "$work/told" >&2; exit 1; }
cmake "$work/consumer" -DPARTS= >> "$work/log"

if [[ $kind == static ]]; then
  echo "== without the simulated machine, who asks for it is told so"
  if cmake "$work/consumer" -DSIMULATED=ON > "$work/told" 2>&1; then echo "txsync_simulate() did nothing" >&2; exit 1; fi
  grep -q "txsync_simulate(simulated_consumer)" "$work/told"

  echo "== each public header stands alone"
  (cd "$work/moved/include" && find txsync -name '*.hpp' ! -path 'txsync/machine/native/*') | sort > "$work/headers"
  [[ -s $work/headers ]]
  # shellcheck disable=SC2016  # $1 is the inner shell's
  xargs -P "$(nproc)" -I '{}' bash -c 'echo "#include <$1>" | "$2" -std=c++20 -Wall -Wextra -Werror -fsyntax-only \
    -I"$3" -I"$3/txsync/machine/native" -x c++ - || { echo "$1 does not compile alone" >&2; exit 255; }' \
    _ '{}' "$compiler" "$work/moved/include" < "$work/headers"
fi

if [[ $kind == shared ]]; then
  echo "== plug-ins that link it stay loaded, since their sites stay in its list"
  "$compiler" -std=c++20 -fPIC -shared "$source_dir/tests/packaging/consumer/plugin.cpp" "${flags[@]}" -o "$work/plugin.so"
  for plugin in "$work/plugin.so" "$work/consumer/libplugin.so"; do
    [[ $(readelf -dW "$plugin") == *NODELETE* ]] || { echo "$plugin goes at dlclose()" >&2; exit 1; }
  done

  echo "== SONAME and exported symbols"
  readelf -d "$work/moved/lib/libtxsync.so" | grep -E 'SONAME.*\[libtxsync\.so\.[0-9]+\.[0-9]+\]'
  "$source_dir/tests/packaging/exported_symbols.sh" "$work/moved/lib/libtxsync.so"

  echo "== all that inlined functions of the headers call is exported"
  (cd "$work/moved/include" && find txsync -name '*.hpp' ! -path 'txsync/machine/native/*' | sort | sed 's/.*/#include <&>/') > "$work/all.cpp"
  "$compiler" -std=c++20 -O1 -fkeep-inline-functions -fPIC -shared "-I$work/moved/include" "-I$work/moved/include/txsync/machine/native" \
    "$work/all.cpp" "$work/moved/lib/libtxsync.so" -Wl,-z,defs -pthread -o "$work/all.so"

  echo "== a program may load it late: its thread-local memory fits into what the C library keeps for that"
  printf '%s\n' '#include <dlfcn.h>' '#include <cstdio>' 'int main(int, char** words) {' \
    '  if (dlopen(words[1], RTLD_NOW) != nullptr) return 0;' '  std::fprintf(stderr, "%s\n", dlerror());' '  return 1;' '}' > "$work/late.cpp"
  "$compiler" "$work/late.cpp" -o "$work/late" -ldl
  "$work/late" "$work/moved/lib/libtxsync.so"
fi
