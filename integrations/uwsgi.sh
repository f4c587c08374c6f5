#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# uWSGI whose Python is a plug-in, with two processes of four threads: requests count up in memory that both share, under
# uWSGI's lock. None may be lost.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
source "$root/integrations/web.sh"
packages=(uwsgi-core uwsgi-plugin-python3 apache2-utils python3)
policies=(none mutex ticket)
most_waiting=3

prepare() { port=$(free_port); }

run_program() {
  "${under[@]}" uwsgi --plugin python3 --http-socket "127.0.0.1:$port" --wsgi-file "$root/integrations/uwsgi_counters.py" \
    --master --processes 2 --threads 4 --sharedarea 1 --locks 1 --disable-logging --pidfile "$work/server.pid" &
  server=$!
  await_server 300 || return 1
  timeout 60 ab -q -c 8 -n 4000 "http://127.0.0.1:$port/add" > "$work/load" 2>&1 || { cat "$work/load"; return 1; }
  {
    grep -E '^(Complete|Failed|Non-2xx)' "$work/load"
    python3 -c 'import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())' "http://127.0.0.1:$port/totals"
  } > "$1"
  kill -INT "$(cat "$work/server.pid")"
  wait "$server"
  local status=$?
  server=
  echo "exit status $status" >> "$1"
}

integration uwsgi "$@"
