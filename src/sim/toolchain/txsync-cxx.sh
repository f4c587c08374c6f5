#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# txsync-c++ and txsync-cc: compile and link a program for txsync's simulated machine, with the command line of g++ and
# gcc. One script serves both; its name tells which. As `txsync-c++ --txsync-launch g++ ARGS...` it replaces a compiler
# that a build system calls.
set -uo pipefail

self=$(basename "$0")
here=$(dirname "$(readlink -f "$0")")
parts=$here/../lib/txsync
[[ -e $parts/symbols.map ]] || { echo "$self: $parts/symbols.map is missing: this is no complete txsync; in a checkout, ./dev build tools builds the rest" >&2; exit 1; }

die() { echo "$self: $*" >&2; exit 1; }
refuse() { echo "$self: $1 is not for a simulated program: $2" >&2; exit 2; }

compiler=@CMAKE_CXX_COMPILER@
[[ $self != txsync-cc ]] || compiler=@CMAKE_C_COMPILER@
if [[ ${1:-} == --txsync-launch ]]; then
  [[ ${2##*/} != *++* ]] && compiler=@CMAKE_C_COMPILER@ || compiler=@CMAKE_CXX_COMPILER@
  shift 2
fi

usage() {
  cat << END
usage: $self [OPTIONS OF GCC] FILE...
  -c, -o, -I, -D, -O, -std, -l, -L and others mean what they mean to GCC; without -O, -O2. The result is a static executable
  that txsync's simulated machine runs: txsync sim -- PROGRAM
  --txsync-keep           keep what is made on the way, beside the result
  --txsync-runtime=FILE   link this instead of the simulated machine's runtime
  --txsync-no-audit       do not refuse objects with memory accesses that the simulated machine does not see
  -v                      say the commands
END
}

verbose=0 keep=0 audit=1 made= runtime= stage=link output= language= dependencies= target= forced=1
flags=() inputs=() libraries=() floors=()
declare -A source_of=()  # of the objects that a link compiles itself

run() {
  [[ $verbose -eq 0 ]] || echo "$*" >&2
  "$@"
}

parse() {
  local word
  while [[ $# -gt 0 ]]; do
    word=$1
    shift
    case $word in
      --help) usage; exit 0 ;;
      --version | -dump* | -print-* | --print-*) exec "$compiler" "$word" "$@" ;;
      --txsync-keep) keep=1 ;;
      --txsync-no-audit) audit=0 ;;
      --txsync-runtime=*) runtime=${word#*=} ;;
      -v) verbose=1 ;;
      -c) stage=object ;;
      -E | -S | -fsyntax-only | -M | -MM) stage=text flags+=("$word") ;;
      -o) output=${1:?-o wants a file}; shift ;;
      -o*) output=${word#-o} ;;
      -x) language=$1; shift ;;
      -shared) refuse "$word" "it is one static executable" ;;
      -fsanitize=*) refuse "$word" "the hooks of ThreadSanitizer are taken by the simulated machine" ;;
      -flto*) refuse "$word" "its objects are rewritten one by one" ;;
      -fopenmp*) refuse "$word" "libgomp is not instrumented" ;;
      --coverage | -fprofile-* | -pg | -p) refuse "$word" "the counters have no hooks" ;;
      # Options that the recipe sets itself.
      -fPIC | -fpic | -fPIE | -fpie | -pie | -fno-pie | -no-pie | -rdynamic | -static | -static-* | -s) ;;
      -fstack-protector* | -fcf-protection* | -D_FORTIFY_SOURCE*) ;;
      -lpthread | -lstdc++ | -lm | -lrt | -ldl | -lc | -latomic) ;;
      -pthread) flags+=("$word") ;;
      -I | -isystem | -l | -L)  # as one word
        [[ $# -gt 0 ]] || die "$word wants a word after it"
        set -- "$word$1" "${@:2}" ;;
      # For a program that uses txsync: the simulated machine's back end instead, and the floors compiled for it.
      -I*/txsync/machine/native | -isystem*/txsync/machine/native) flags+=("-I$parts/include") ;;
      -ltxsync | libtxsync.a | */libtxsync.a | */libtxsync.so*) floors=("$parts/libtxsync-sim-floors.a") ;;
      -l* | -L* | -Wl,*) libraries+=("$word") ;;
      -MF) dependencies=${1:?-MF wants a file} flags+=("$word" "$1"); shift ;;
      -MT) target=${1:?-MT wants a name} flags+=("$word" "$1"); shift ;;
      -include)
        # CMake's precompiled header must be the first one, so it includes the forced one itself (cmake/precompiled.cmake).
        [[ ${1:-} != */cmake_pch.hxx ]] || forced=
        flags+=("$word" "${1:?$word wants a word after it}"); shift ;;
      -D | -U | -iquote | -idirafter | -MQ | --param | -Xlinker | -aux-info)
        flags+=("$word" "${1:?$word wants a word after it}"); shift ;;
      -) inputs+=("$word") ;;
      -*) flags+=("$word") ;;
      *) inputs+=("$word") ;;
    esac
  done
}

recipe() {
  local optimize=-O2 word
  for word in ${flags[@]+"${flags[@]}"}; do [[ $word != -O* ]] || optimize=; done
  # The compiler writes constant results of these functions itself, and later than it places the hooks.
  printf -- '-fno-builtin-%s\n' {,v}s{,n}printf
  # Each object's code stays in one piece: by its place the machine knows the program's own code (library/begin.cpp).
  printf '%s\n' -fno-reorder-functions -fno-reorder-blocks-and-partition
  printf '%s\n' ${optimize:+"$optimize"} -fsanitize=thread --param=tsan-distinguish-volatile=1 -Wno-tsan -fno-pie -fno-stack-protector \
    -fcf-protection=none -U_FORTIFY_SOURCE "-fplugin=$parts/txsync-hooks.so"
  [[ -z $forced ]] || printf '%s\n' -include "$parts/forced.h"
  # <txsync/explore.hpp> needs no other option. The program's own headers of txsync come first.
  printf '%s\n' -idirafter "$parts/include" -idirafter "$here/../include"
}

is_source() { [[ $1 == - || -n $language || $1 =~ \.(c|C|cc|cp|cpp|CPP|cxx|c\+\+|i|ii)$ ]]; }

# compile SOURCE OBJECT
compile() {
  local source=$1 object=$2
  [[ $source != *.[sS] ]] || refuse "$source" "the simulated machine sees no memory access of assembly"
  run "$compiler" "${options[@]}" ${flags[@]+"${flags[@]}"} ${language:+-x "$language"} -c "$source" -o "$object" || exit
  if [[ $language != *-header ]]; then
    run objcopy --redefine-syms="$parts/symbols.map" --add-symbol txsync_audited=0,local "$object" || die "objcopy failed on $object"
    [[ $audit -eq 0 ]] || run "$here/txsync-audit" --symbols "$parts/symbols.txt" --accesses --source "$source" "$object" || {
      rm -f "$object"
      exit 1
    }
  fi
  # A new recipe requires new objects.
  [[ -z $dependencies || ! -e $dependencies ]] \
    || echo "${target:-$object}: $0 $here/txsync-audit $parts/txsync-hooks.so $parts/symbols.map" >> "$dependencies"
}

# The archive that -lNAME means, or nothing if it is a shared library.
archive_of() {
  local directory
  for directory in "${libraries[@]}"; do
    [[ $directory == -L* && -e ${directory#-L}/lib${1#-l}.a ]] && { echo "${directory#-L}/lib${1#-l}.a"; return; }
  done
  directory=$("$compiler" -print-file-name="lib${1#-l}.a")
  [[ $directory != */* ]] || echo "$directory"
}

link() {
  local objects=() given=() word found
  for word in "$@"; do objects+=("$word"); done
  for word in ${libraries[@]+"${libraries[@]}"}; do
    if [[ $word == -l* ]]; then
      found=$(archive_of "$word")
      [[ -n $found ]] || die "$word: no lib${word#-l}.a; a simulated program is linked statically, of objects made by $self"
      given+=("$found")
    elif [[ $word == -Wl,* ]]; then
      objects+=("$word")
    fi
  done
  local ours=("$parts"/libtxsync-sim-*.a)
  if [[ -n $runtime ]]; then
    ours=("$runtime")
    for found in "$parts"/libtxsync-sim-*.a; do [[ $found == */libtxsync-sim-runtime.a ]] || ours+=("$found"); done
  elif [[ ! -e $parts/libtxsync-sim-runtime.a ]]; then
    die "$parts/libtxsync-sim-runtime.a is missing: this txsync was built without the simulated machine's runtime; in a checkout, ./dev build tools builds it"
  fi
  local audited=()
  for word in ${objects[@]+"${objects[@]}"} ${given[@]+"${given[@]}"} ${floors[@]+"${floors[@]}"}; do
    [[ $word == -* ]] || audited+=(${source_of[$word]:+--source "${source_of[$word]}"} "$word")
  done
  [[ $audit -eq 0 ]] || run "$here/txsync-audit" --symbols "$parts/symbols.txt" --link "${audited[@]}" || exit 1
  # A program that uses txsync reports at its end what its sites counted, although nothing calls that function.
  local wanted=(-u txsync_sim___cxa_atexit -u txsync_sim_library_begin)
  [[ ${#floors[@]} -eq 0 ]] || wanted+=(-u txsync_sim_at_end)
  # library/held_locks.cpp
  for word in mutex_{lock,trylock,timedlock,clocklock,unlock} rwlock_{,try,timed,clock}{rd,wr}lock rwlock_unlock \
    spin_{lock,trylock,unlock} cond_{wait,timedwait,clockwait,signal,broadcast}; do
    wanted+=("-Wl,--wrap=txsync_sim_pthread_$word")
  done
  run @CMAKE_CXX_COMPILER@ -static -no-pie -o "${output:-a.out}" "${wanted[@]}" "${objects[@]}" \
    ${given[@]+"${given[@]}"} "$parts"/libtxsync-sim-{data,begin}.a ${floors[@]+"${floors[@]}"} -Wl,--start-group "${ours[@]}" -Wl,--end-group
}

main() {
  parse "$@"
  [[ ${#inputs[@]} -gt 0 ]] || die "no input files; $self --help tells how to call it"
  mapfile -t options < <(recipe)
  local input object
  if [[ $stage == text ]]; then
    run "$compiler" "${options[@]}" "${flags[@]}" ${language:+-x "$language"} "${inputs[@]}" ${output:+-o "$output"}
    exit
  fi
  if [[ $stage == object ]]; then
    [[ -z $output || ${#inputs[@]} -eq 1 ]] || die "-c and -o take one source"
    for input in "${inputs[@]}"; do
      is_source "$input" || [[ $input == *.[sS] ]] || continue
      object=$(basename "$input")
      compile "$input" "${output:-${object%.*}.o}"
    done
    exit 0
  fi
  local objects=() number=0
  if [[ $keep -eq 1 ]]; then
    made=${output:-a.out}.parts
    mkdir -p "$made"
  else
    made=$(mktemp -d) || exit
    trap 'rm -rf "$made"' EXIT
  fi
  for input in "${inputs[@]}"; do
    if is_source "$input" || [[ $input == *.[sS] ]]; then
      object=$made/$((number++))-$(basename "${input%.*}").o
      compile "$input" "$object"
      objects+=("$object")
      source_of[$object]=$input
    else
      objects+=("$input")
    fi
  done
  link "${objects[@]}"
}

main "$@"
