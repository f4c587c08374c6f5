#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debian's ruby: fibers in several threads, queues, a monitor, timeouts, and children that fork while threads run.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(ruby)
policies=(none mutex ticket)
most_waiting=3

prepare() { :; }

run_program() { "${under[@]}" /usr/bin/ruby "$root/integrations/ruby_fibers.rb" > "$1"; }

integration ruby "$@"
