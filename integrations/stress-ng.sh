#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stress-ng's stressors of threads, mutexes, semaphores and condition waits, with its own checks.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(stress-ng)
policies=(none mutex ticket)
most_waiting=3

prepare() { :; }

# By numbers of operations, or for a second (0): sem does not end by a number, and mutex complains where that is reached before
# all of its threads are there.
run_program() {
  local stressor name operations status
  for stressor in pthread:3000 mutex:0 sem:0 futex:5000 tsearch:5 zlib:5 fork:500; do
    name=${stressor%:*}
    operations=("--$name-ops" "${stressor#*:}" --timeout 60)
    [[ $stressor != *:0 ]] || operations=(--timeout 1)
    (cd "$work" && "${under[@]}" stress-ng --verify --temp-path "$work" "--$name" 2 "${operations[@]}") > "$work/stress" 2>&1
    status=$?
    cat "$work/stress"
    echo "$name: exit status $status, $(grep -cE 'fail:|error' "$work/stress") complaints," \
      "$(grep -c 'successful run completed' "$work/stress") completed" >> "$1.part"
  done
  mv "$1.part" "$1"
}

integration stress-ng "$@"
