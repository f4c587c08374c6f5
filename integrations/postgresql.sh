#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A PostgreSQL server and its client pgbench, both under txsync: the balances of accounts, tellers and branches and the
# history must agree, and no transaction may fail. A server must not be root's: it becomes another user under txsync.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(postgresql-15 util-linux)
policies=(none mutex ticket)
most_waiting=3

stop_all() {
  [[ -n $server ]] || return 0
  kill -TERM "$(head -n 1 "$work/data/postmaster.pid" 2> /dev/null)" "$server" 2> /dev/null
  wait "$server" 2> /dev/null
  server=
}

programs=/usr/lib/postgresql/15/bin
as_user=()

prepare() {
  mkdir "$work/socket"
  if [[ $EUID -eq 0 ]]; then
    as_user=(setpriv --reuid=postgres --regid=postgres --clear-groups)
    chown postgres: "$work" "$work/socket"
  fi
  (cd "$work" && "${as_user[@]}" "$programs/initdb" -D "$work/fresh" -U tester -A trust --no-sync) > "$work/install.log" 2>&1 \
    || { tail -3 "$work/install.log" >&2; fail "initdb failed"; }
}

sql() { "$programs/psql" -h "$work/socket" -U tester -d postgres -At -c "$1"; }
load() { "${under[@]}" "$programs/pgbench" -h "$work/socket" -U tester "$@" postgres; }

answers() { "$programs/pg_isready" -q -h "$work/socket" -U tester; }

run_program() {
  rm -rf "$work/data" && cp -a "$work/fresh" "$work/data"
  (cd "$work" && exec "${under[@]}" "${as_user[@]}" "$programs/postgres" -D "$work/data" -k "$work/socket" -c listen_addresses= \
    -c fsync=off -c max_parallel_workers=2) &
  server=$!
  await_server 300 || return 1
  load -i -s 2 -q || return 1
  load -c 8 -j 4 -t 400 > "$work/load" || return 1
  { grep -E '^number of (transactions actually|failed)' "$work/load"
    sql 'select count(*), sum(delta) = (select sum(abalance) from pgbench_accounts),
      sum(delta) = (select sum(bbalance) from pgbench_branches), sum(delta) = (select sum(tbalance) from pgbench_tellers)
      from pgbench_history'
    sql "set force_parallel_mode = on; select count(*), sum(aid) from pgbench_accounts where filler <> 'x'"; } > "$1" || return 1
  kill -INT "$(head -n 1 "$work/data/postmaster.pid")"
  wait "$server"
  local status=$?
  server=
  return $status
}

integration postgresql "$@"
