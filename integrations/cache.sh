#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# txsync-cache, our own cache with memcached 1.4.5's two global locks, under load from memcaslap on loopback: every value
# that is got is compared with what was set (not with --overwrite, which makes memcaslap find memcached's own values
# wrong); then counters that several connections count up. Under each lock, and in stripes.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
packages=(libmemcached-tools python3)
program=${TXSYNC_CACHE:-$root/build/release/bin/txsync-cache}
seconds=5
threads=2
locks=()
layouts=(global striped)

usage() {
  cat << END
usage: integrations/${0##*/} [--seconds N] [--threads N] [--locks A,B,...] [--layouts global,striped]

Runs txsync-cache with each lock, under two global locks and in stripes, for N seconds (5) of memcaslap each.
Environment: TXSYNC_CACHE, the program (build/release/bin/txsync-cache).
Exit status: 0 all values were right, 1 some were not, 2 the command line was wrong.
END
}

answers() {
  port=$(sed -nE 's/^listening on 127.0.0.1:([0-9]+)$/\1/p' "$work/server")
  [[ -n $port ]]
}

start_server() {  # OPTIONS...
  : > "$work/server"
  "$program" --port 0 --threads "$threads" --memory 512 "$@" > "$work/server" 2> "$work/errors" &
  server=$!
  await_server
}

expected_counts() {
  local i
  for i in 0 1 2 3; do echo "counter$i 3000"; done
  echo "changed 1200"
}

# One run; a line, and whether all was right.
load() {  # LOCK LAYOUT OPTIONS...
  local lock=$1 layout=$2 wrong=
  shift 2
  if start_server --lock "$lock" "$@"; then
    timeout $((seconds + 60)) memcaslap -s "127.0.0.1:$port" -T 2 -c 16 -t "${seconds}s" --fixed_size=128 --verify=1.0 \
      > "$work/load" 2>&1 || wrong="memcaslap failed, status $?"
    local field
    for field in get_misses verify_misses verify_failed; do
      grep -qx "$field: 0" "$work/load" || wrong=${wrong:-$(grep "^$field" "$work/load" || echo "memcaslap says nothing of $field")}
    done
    timeout 60 python3 "$root/integrations/count_up.py" "$port" > "$work/counts" 2>> "$work/errors" || wrong=${wrong:-counting failed}
    diff <(expected_counts) "$work/counts" > /dev/null || wrong=${wrong:-an increment is lost}
    kill -TERM "$server"
    wait "$server" || wrong=${wrong:-the server ended with status $?: $(tail -1 "$work/errors")}
    server=
  else
    wrong="the server did not start: $(tail -1 "$work/errors")"
    stop_all
  fi
  local gets rate
  gets=$(sed -nE 's/^cmd_get: //p' "$work/load")
  rate=$(sed -nE 's/.*TPS: ([0-9]+).*/\1/p' "$work/load")
  printf '  %-18s %-8s %10s gets %8s requests/s  %s\n' "$lock" "$layout" "${gets:--}" "${rate:--}" "${wrong:-all values right}"
  [[ -z $wrong ]]
}

while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds | --threads) [[ $# -ge 2 && $2 =~ ^[1-9][0-9]{0,4}$ ]] || { usage >&2; exit 2; }; declare "${1#--}=$2"; shift 2 ;;
    --locks) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; IFS=, read -ra locks <<< "$2"; shift 2 ;;
    --layouts) [[ $# -ge 2 && $2 =~ ^(global|striped)(,(global|striped))?$ ]] || { usage >&2; exit 2; }; IFS=, read -ra layouts <<< "$2"; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) printf "%s: '%s' is not an option; allowed: --seconds N, --threads N, --locks A,B,..., --layouts A,B, --help\n" "${0##*/}" "$1" >&2; exit 2 ;;
  esac
done
[[ -x $program ]] || fail "no txsync-cache at $program; build it (./dev build) or name it: TXSYNC_CACHE=FILE"
[[ ${#locks[@]} -gt 0 ]] || IFS=, read -ra locks <<< "$("$program" --list-locks)"
work=$(mktemp -d "${TMPDIR:-/tmp}/txsync-cache.XXXXXX")
trap 'stop_all; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
install_packages
failures=0
say "cache"
for lock in "${locks[@]}"; do
  for layout in "${layouts[@]}"; do
    options=()
    [[ $layout == global ]] || options=(--striped)
    load "$lock" "$layout" "${options[@]}" || failures=$((failures + 1))
  done
done
if [[ $failures -gt 0 ]]; then say "cache: $failures of $((${#layouts[@]} * ${#locks[@]})) runs with wrong values"; exit 1; fi
say "cache: all values right under ${#locks[@]} locks"
