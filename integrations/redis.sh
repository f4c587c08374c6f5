#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# redis with threads for its connections under redis-benchmark on loopback: no increment and no element may be lost, and
# what a forked child saves has to be there when the server is started again.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(redis-server redis-tools)
policies=(none mutex ticket)
most_waiting=3

prepare() { :; }

ask() { redis-cli -s "$work/socket" "$@"; }

answers() { [[ $(ask ping 2> /dev/null) == PONG ]]; }

start_server() {
  "${under[@]}" redis-server --port 0 --unixsocket "$work/socket" --dir "$work" --save '' --appendonly no --io-threads 2 \
    --io-threads-do-reads yes &
  server=$!
  await_server
}

end_server() {
  ask shutdown "$1" > /dev/null 2>&1
  wait "$server"
  local status=$?
  server=
  return $status
}

load() { timeout 60 redis-benchmark -s "$work/socket" -c 20 -n 5000 -q "$@"; }

run_program() {
  rm -f "$work/dump.rdb"
  start_server || return 1
  load incr counter && load lpush elements x && load -t set,get -P 8 -d 100 -r 5000 || return 1
  ask bgsave > /dev/null
  load sadd members __rand_int__ -r 1000 || return 1
  while [[ $(ask info persistence) == *rdb_bgsave_in_progress:1* ]]; do sleep 0.1; done
  { ask get counter; ask llen elements; ask info persistence | grep -o 'rdb_last_bgsave_status:ok'; } > "$1"
  end_server save || return 1
  start_server || return 1
  { ask get counter; ask llen elements; ask flushall async; ask dbsize; } >> "$1"
  end_server nosave
}

integration redis "$@"
