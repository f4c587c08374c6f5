#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# partly_built.sh BUILD_DIR WORK_DIR: what `cmake --install` does in a build that lacks something. The build tree is a feigned
# one: the install scripts of BUILD_DIR alone, with the files that a case has, all of them empty. So each file that the scripts
# install and the build makes must be one that is looked for before anything is installed.
set -euo pipefail

build_dir=$1 work=$2
fail() { printf 'partly_built.sh: %s\n' "$@" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work"
cd "$build_dir"
# Not those of other builds below this one, as tests make them.
mapfile -t scripts < <(find . -name cmake_install.cmake ! -path './tests/*' ! -path './_deps/*')
for script in "${scripts[@]}"; do
  mkdir -p "$work/tree/$(dirname "$script")"
  sed "s|$build_dir/|$work/tree/|g; s|$build_dir\"|$work/tree\"|g" "$script" > "$work/tree/$script"
done
# What is there before anything is built: written by cmake itself.
at_once='^(packaging/|bin/txsync-c(\+\+|c)$|lib/txsync/include/)'
mapfile -t made < <(sed '/set(built /d' "${scripts[@]}" | grep -oE "\"$build_dir/[^\"\$]+\"" | tr -d '"' | sed "s|^$build_dir/||" \
  | grep -v 'cmake_install.cmake$' | grep -vE "$at_once" | sort -u)
((${#made[@]} > 2)) || fail "no files are found in the scripts of $build_dir"

install() {  # OPTION...: the words of the refusal are in `told`
  rm -rf "$work/prefix"
  if cmake "-DCMAKE_INSTALL_PREFIX=$work/prefix" "$@" -P "$work/tree/cmake_install.cmake" > "$work/log" 2>&1; then
    fail "this was installed: $*"
  fi
  told=$(tr -s ' \n' '  ' < "$work/log")
  [[ $told == *"nothing was installed. Missing: "*". Build first: cmake --build $work/tree"* ]] || fail "it says:" "$told"
  [[ ! -e $work/prefix ]] || fail "half of it was installed: $(find "$work/prefix" -type f)"
}

echo "== nothing is built: all that the scripts install is looked for"
install
for file in "${made[@]}"; do
  [[ " ${told%. Build first*} " == *" ${file##*/} "* ]] || fail "nothing is said of $file; it says:" "$told"
done
[[ $told != *"--component"* ]] || fail "it says:" "$told"

without() {  # FILE: all others are there
  local file
  for file in "${made[@]}"; do
    mkdir -p "$work/tree/$(dirname "$file")"
    : > "$work/tree/$file"
  done
  rm "$work/tree/$1"
}
if [[ " ${made[*]} " == *" bin/txsync-audit "* ]]; then
  echo "== the simulated machine is not built: the rest can be installed"
  without bin/txsync-audit
  install
  [[ $told == *"Missing: txsync-audit. "*"cmake --install $work/tree --component development"* ]] || fail "it says:" "$told"
  install -DCMAKE_INSTALL_COMPONENT=simulator
  [[ $told != *"--component development"* ]] || fail "it says:" "$told"
fi
echo "== one file of the library or the command"
for file in "${made[@]}"; do
  [[ $file =~ ^(src/libtxsync|bin/txsync$|lib/libtxsync-) ]] || continue
  without "$file"
  install -DCMAKE_INSTALL_COMPONENT=development
  [[ $told == *"Missing: ${file##*/}. "* && $told != *"--component"* ]] || fail "it says:" "$told"
done
echo "${#made[@]} files"
