#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# headers.sh SOURCE_DIR LIBRARY WORK_DIR COMPILER...: compiles the public headers as users do, with the warnings that
# careful projects turn on. Each compiler compiles them as C++20, and as C++23 without exceptions and run-time types;
# Clang with libc++, too. With TXSYNC_TEST_BUDGET=full each standard is compiled with and without them. Such a program
# finds in the library what the headers leave to it. C++17, or another standard library than an installed copy's, gives
# an error that says why. A remark says which compiler or library is missing.
set -euo pipefail

source_dir=$1 library=$2 work=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
include=(-I "$source_dir/include" -I "$source_dir/include/txsync/machine/native")
warnings=(-Wall -Wextra -Wshadow -Wconversion -Wzero-as-null-pointer-constant -Wold-style-cast -Werror)
bare=(-fno-exceptions -fno-rtti)

cd "$source_dir/include"
mapfile -t headers < <(find txsync -name '*.hpp' ! -path 'txsync/machine/native/*' | sort)
[[ ${#headers[@]} -gt 30 ]]
printf '#include <%s>\n' "${headers[@]}" > "$work/all.cpp"
cat "$source_dir/tests/packaging/headers/uses.cpp" >> "$work/all.cpp"

is_clang() { "$1" --version | grep -q clang; }

compile() {  # COMPILER OPTIONS...
  "$@" "${include[@]}" "${warnings[@]}" -fsyntax-only "$work/all.cpp" || { echo "headers.sh: failed: $*" >&2; return 1; }
}

# What the first error of a file on standard input says, of its preprocessing.
first_error() {  # COMPILER OPTIONS...
  { "$@" "${include[@]}" -E -x c++ - 2>&1 > /dev/null || true; } | grep error | head -1 || true
}

names_cxx20() {  # COMPILER HEADER...
  local compiler=$1 header said
  shift
  for header in "$@"; do
    said=$(echo "#include <$header>" | first_error "$compiler" -std=c++17)
    [[ $said == *"txsync needs C++20"* ]] || { echo "headers.sh: as C++17, $header says: ${said:-nothing}" >&2; return 1; }
  done
}

# Beside headers that say which library they were built with, as an installed copy's do.
names_library() {  # COMPILER OPTION
  local said with=0
  [[ $2 == -stdlib=libc++ ]] || with=1
  mkdir -p "$work/built$with/txsync_backend"
  echo "#define TXSYNC_BUILT_WITH_LIBCXX $with" > "$work/built$with/txsync_backend/built_with.hpp"
  said=$(echo '#include <txsync/mutex.hpp>' | first_error "$1" "$2" -std=c++20 -I "$work/built$with")
  [[ $said == *"this copy of txsync was built with"* ]] || { echo "headers.sh: with another library: ${said:-nothing}" >&2; return 1; }
}

in_all_ways() {  # COMPILER OPTIONS...
  local standard full=
  [[ ${TXSYNC_TEST_BUDGET:-} != full ]] || full=1
  for standard in -std=c++20 -std=c++23; do
    [[ $standard == -std=c++23 && ! $full ]] || start compile "$@" "$standard"
    [[ $standard == -std=c++20 && ! $full ]] || start compile "$@" "$standard" "${bare[@]}"
  done
}

links_bare() {  # COMPILER
  "$1" -std=c++20 -O0 "${bare[@]}" "${include[@]}" "$work/all.cpp" "$source_dir/tests/packaging/sanitized/locks.cpp" "$library" \
    "-Wl,-rpath,$(dirname "$library")" -pthread -o "$work/bare" || { echo "headers.sh: failed: a program with ${bare[*]}" >&2; return 1; }
}

# As many at a time as there are processors; all are run, also after one that failed.
running=0 failed=0
collect() {
  wait -n || failed=1
  running=$((running - 1))
}
start() {  # COMMAND...
  ((running < $(nproc))) || collect
  "$@" &
  running=$((running + 1))
}
left_out() { echo "test remark: packaging.headers: $*"; }

seen=()
for compiler in "$@"; do
  if ! command -v "$compiler" > /dev/null; then
    left_out "no $compiler: what it says of the headers is not known"
    continue
  fi
  [[ " ${seen[*]} " != *" $(readlink -f "$(command -v "$compiler")") "* ]] || continue  # another name of it
  seen+=("$(readlink -f "$(command -v "$compiler")")")
  if is_clang "$compiler"; then
    in_all_ways "$compiler" -Wthread-safety
    if echo '#include <version>' | "$compiler" -stdlib=libc++ -E -x c++ - > /dev/null 2>&1; then
      in_all_ways "$compiler" -stdlib=libc++ -Wthread-safety
      start names_library "$compiler" -stdlib=libc++
    else
      left_out "$compiler has no libc++: how the headers compile with it is not known"
    fi
  else
    in_all_ways "$compiler" -Wuseless-cast
  fi
  if [[ ${#seen[@]} -eq 1 ]]; then
    start links_bare "$compiler"
    start names_cxx20 "$compiler" "${headers[@]}"
  else
    start names_cxx20 "$compiler" txsync/mutex.hpp txsync/tm.hpp
  fi
  start names_library "$compiler" -O0
done
while ((running > 0)); do collect; done
((failed == 0 && ${#seen[@]} > 0))
echo "${#headers[@]} headers, ${#seen[@]} compilers"
