#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# memcached under load from memcaslap on loopback, which reads back part of what it wrote, then counters that several
# connections count up: no increment may be lost.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(memcached libmemcached-tools python3)

# One port for all runs, that nobody listens at.
prepare() {
  port=$(free_port)
}

answers() { (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; }

run_program() {
  local user=()
  [[ $EUID -ne 0 ]] || user=(-u root)
  "${under[@]}" memcached "${user[@]}" -t 2 -c 256 -l 127.0.0.1 -p "$port" &
  server=$!
  await_server || return 1
  timeout 60 memcaslap -s "127.0.0.1:$port" -T 2 -c 16 -t 3s --verify=0.1 > "$work/load" 2>&1 || return 1
  python3 "$root/integrations/count_up.py" "$port" > "$1" || return 1
  grep -oE 'verify_failed: [0-9]+' "$work/load" >> "$1"
  kill -TERM "$server"
  wait "$server"
  local status=$?
  server=
  grep -E '^Run time' "$work/load"
  # Ended by us: 0, or what a shell says of SIGTERM.
  [[ $status -eq 0 || $status -eq 143 || $status -eq 124 ]]
}

integration memcached "$@"
