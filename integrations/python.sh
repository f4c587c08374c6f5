#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debian's python3 with threads: a queue, a pool, a condition, a barrier and children that fork while threads run.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(python3)
policies=(none mutex ticket)
most_waiting=3

prepare() { :; }

run_program() { "${under[@]}" /usr/bin/python3 "$root/integrations/python_threads.py" > "$1"; }

integration python "$@"
