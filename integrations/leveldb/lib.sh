#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# LevelDB 1.23 of Debian's source package, fetched and compiled without a change. To be sourced by the scripts that build it.

# shellcheck source=integrations/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../lib.sh"

leveldb_flags=(-DLEVELDB_PLATFORM_POSIX=1 -DHAVE_FDATASYNC=1 -DHAVE_FULLFSYNC=0 -DHAVE_O_CLOEXEC=1 -DHAVE_CRC32C=0
  -DHAVE_SNAPPY=0 -DNDEBUG -fno-exceptions)

# fetch_source FOLDER: the sources are in FOLDER/leveldb-1.23 afterwards.
fetch_source() { fetch_debian_source "$1" leveldb 1.23 1.23-4; }

# leveldb_files SOURCE: all sources of the library.
leveldb_files() {
  local file
  for file in "$1"/{db,table,util}/*.cc; do
    case $file in
      *_test.cc | *_bench.cc | *testutil.cc | *leveldbutil.cc | *_windows.cc) ;;
      *) printf '%s\n' "$file" ;;
    esac
  done
}

# sees_locks FILE: whether its objects differ with the type of LevelDB's locks.
sees_locks() { grep -qE 'Mutex|CondVar|"db/(db_impl|version_set)\.h"' "$1"; }

# compile_files SOURCE OBJECTS COMPILER... -- FLAG...: the sources named on the standard input, into the folder OBJECTS, which
# is emptied first. SOURCE/include is searched after the flags' folders.
compile_files() {
  local source=$1 objects=$2 compiler=()
  shift 2
  while [[ $1 != -- ]]; do compiler+=("$1"); shift; done
  shift
  local flags=("$@" "-I$source" "-I$source/include" "${leveldb_flags[@]}")
  rm -rf "$objects"
  mkdir -p "$objects"
  # shellcheck disable=SC2016
  xargs -d '\n' -P "$(nproc)" -I FILE sh -c 'objects=$1 file=$2; shift 2
    "$@" -c "$file" -o "$objects/$(basename "$file" .cc).o"' \
    - "$objects" FILE "${compiler[@]}" "${flags[@]}" > "$objects.log" 2>&1
}

# compile_leveldb SOURCE OBJECTS COMPILER... -- FLAG...: all of the library.
compile_leveldb() { leveldb_files "$1" | compile_files "$@"; }
