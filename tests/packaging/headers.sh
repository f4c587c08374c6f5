#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# headers.sh SOURCE_DIR WORK_DIR [COMPILER...]
# The public headers as users compile them: with the warnings that careful projects turn on, without exceptions and
# run-time types, as C++20 and C++23, by those of the compilers that are there; Clang with libc++, too, where that is
# installed. And who compiles them as C++17, or with another standard library than an installed copy, reads why not.
set -euo pipefail

source_dir=$1 work=$2
shift 2
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

jobs=()
for compiler in "$@"; do
  if ! command -v "$compiler" > /dev/null; then
    echo "no $compiler: left out"
    continue
  fi
  more=()
  is_clang "$compiler" || more=(-Wuseless-cast)
  compile "$compiler" -std=c++20 "${more[@]}" "${bare[@]}" & jobs+=($!)
  compile "$compiler" -std=c++23 "${more[@]}" & jobs+=($!)
  if [[ $compiler == "$1" ]]; then
    names_cxx20 "$compiler" "${headers[@]}" & jobs+=($!)
  else
    names_cxx20 "$compiler" txsync/mutex.hpp txsync/tm.hpp & jobs+=($!)
  fi
  if is_clang "$compiler" && echo '#include <version>' | "$compiler" -stdlib=libc++ -E -x c++ - > /dev/null 2>&1; then
    compile "$compiler" -stdlib=libc++ -std=c++23 "${bare[@]}" & jobs+=($!)
    names_library "$compiler" -stdlib=libc++ & jobs+=($!)
  elif is_clang "$compiler"; then
    echo "no libc++ of $compiler: left out"
  fi
  names_library "$compiler" -O0 & jobs+=($!)
done
[[ ${#jobs[@]} -gt 0 ]]
for job in "${jobs[@]}"; do wait "$job"; done
echo "${#headers[@]} headers"
