#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A MariaDB server on a socket under sysbench's transactions, then clients that count up rows: no update may be lost, and
# the tables must pass the server's own check.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(mariadb-server mariadb-client sysbench)

prepare() {
  export PATH=$PATH:/usr/sbin
  mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$work/fresh" --auth-root-authentication-method=normal \
    > "$work/install.log" 2>&1 || { tail -3 "$work/install.log" >&2; fail "mariadb-install-db failed"; }
}

sql() { mariadb --no-defaults -uroot -S "$work/socket" -N -e "$1"; }

answers() { mariadb-admin --no-defaults -uroot -S "$work/socket" ping > /dev/null 2>&1; }

load() {  # TEST ARGUMENTS
  timeout 60 sysbench "$1" --db-driver=mysql --mysql-socket="$work/socket" --mysql-user=root --tables=1 --table-size=2000 "${@:2}"
}

run_program() {
  rm -rf "$work/data" && cp -a "$work/fresh" "$work/data"
  "${under[@]}" mariadbd --no-defaults --user="$(id -un)" --datadir="$work/data" --socket="$work/socket" --skip-networking \
    --performance-schema=OFF --innodb-buffer-pool-size=64M --innodb-log-file-size=16M &
  server=$!
  await_server 300 || return 1
  sql 'create database sbtest' && load oltp_read_write prepare || return 1
  load oltp_read_write --threads=4 --time=3 --mysql-ignore-errors=1213,1205,1020 run || return 1
  sql 'create table sbtest.counters (id int primary key, n int) engine=innodb;
       insert into sbtest.counters values (1, 0), (2, 0), (3, 0), (4, 0)' || return 1
  mariadb-slap --no-defaults -uroot -S "$work/socket" --create-schema=sbtest --concurrency=8 --number-of-queries=4000 \
    --query='update counters set n = n + 1 where id = 1 + (connection_id() % 4)' --no-drop || return 1
  { sql 'select sum(n) from sbtest.counters'; sql 'select count(*) from sbtest.sbtest1'
    sql 'check table sbtest.sbtest1, sbtest.counters'; } > "$1" || return 1
  timeout 60 mariadb-admin --no-defaults -uroot -S "$work/socket" shutdown || return 1
  wait "$server"
  local status=$?
  server=
  return $status
}

integration mariadb "$@"
