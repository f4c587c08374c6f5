#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the scripts of web servers share: files to serve, a load by ab on loopback, and what came of it. To be sourced behind
# lib.sh; the script starts its server in start_server and says in $ending which signal ends it.

ab_options=(-k)

# A free port, a small file and one that is sent in several parts.
prepare_files() {
  chmod 755 "$work"
  port=$(free_port)
  mkdir "$work/files"
  seq 100 > "$work/files/small"
  seq 200000 > "$work/files/large"
}

answers() { (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; }

run_program() {
  start_server
  server=$!
  await_server || return 1
  local file
  for file in small large; do
    timeout 60 ab -q "${ab_options[@]}" -c 16 -n $([[ $file == small ]] && echo 10000 || echo 500) "http://127.0.0.1:$port/$file" \
      > "$work/load" 2>&1 || { cat "$work/load"; return 1; }
    grep -E '^(Complete|Failed|Non-2xx|HTML)' "$work/load"
    python3 -c 'import hashlib, sys, urllib.request as r; print(hashlib.sha256(r.urlopen(sys.argv[1]).read()).hexdigest())' \
      "http://127.0.0.1:$port/$file"
  done > "$1"
  # The launcher hands signals on, and timeout does, too.
  kill "-$ending" "$(cat "$work/server.pid")"
  wait "$server"
  local status=$?
  server=
  echo "exit status $status" >> "$1"
}
