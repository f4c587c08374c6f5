#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# OpenJDK 17: the compiler, then a program of threads that share a pool, a queue, monitors and locks.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(openjdk-17-jdk-headless)
policies=(none mutex ticket)
most_waiting=3

prepare() {
  local file
  for file in /usr/lib/jvm/java-17-openjdk-*/bin/java; do java=$file; done
}

run_program() {
  "${under[@]}" "${java}c" -d "$work/classes" "$root/integrations/Pool.java" || return 1
  "${under[@]}" "$java" -Xmx256m -XX:+UseParallelGC -cp "$work/classes" Pool > "$1"
}

integration java "$@"
