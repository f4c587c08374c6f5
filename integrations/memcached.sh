#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# memcached under load from memcaslap on loopback, which reads back part of what it wrote, then counters that several
# connections count up: no increment may be lost.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(memcached libmemcached-tools python3)

server=
stop_all() {
  [[ -n $server ]] || return 0
  kill -TERM "$server" 2> /dev/null
  wait "$server" 2> /dev/null
  server=
}

# One port for all runs, that nobody listens at.
prepare() {
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
}

await_server() {
  local try
  for try in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && return 0
    kill -0 "$server" 2> /dev/null || return 1
    sleep 0.1
  done
  return 1
}

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
