#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the integrations share: each runs an unmodified Debian package without txsync and then under it, once for each
# policy, and compares the results. To be sourced; see README.md.
#
# A script defines
#   packages=(...)   Debian packages, installed where missing
#   prepare          makes what the runs share, in $work
#   run_program OUT  runs the program with "${under[@]}" before its command, writes what must not depend on locks to OUT
# It may also set
#   policies=(...)   what to run under where the command line does not say; none: `txsync run` without --policy
#   most_waiting=N   the sites of each run's last table to print, those that waited most
# and ends with: integration NAME "$@"
set -uo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
txsync=${TXSYNC:-$root/build/release/bin/txsync}
policies=(libc mutex spin tatas ticket fifo-ticket as-mutex)
limit=${TXSYNC_INTEGRATION_LIMIT:-120}  # seconds for each run
most_waiting=0
work=
under=()

say() { printf '%s\n' "$*"; }
fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

install_packages() {
  local package missing=()
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] && return
  [[ $EUID -eq 0 ]] || fail "please install: apt-get install ${missing[*]}"
  say "installing by apt: ${missing[*]}"
  # A package must not start its own server here.
  local policy=/usr/sbin/policy-rc.d made=
  [[ -e $policy ]] || { printf '#!/bin/sh\nexit 101\n' > $policy && chmod +x $policy && made=1; }
  local log=$work/apt.log
  { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" > "$log" 2>&1 \
    || { apt-get update > "$log" 2>&1 && DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends "${missing[@]}" >> "$log" 2>&1; }; } || { tail -3 "$log" >&2; missing=failed; }
  [[ -z $made ]] || rm -f $policy
  [[ ${missing[0]} != failed ]] || fail "apt could not install what is missing"
}

# fetch_debian_source FOLDER PACKAGE UPSTREAM VERSION: Debian's source of bookworm, without Debian's patches, is in
# FOLDER/PACKAGE-UPSTREAM afterwards. Nothing of the system's own lists is touched.
fetch_debian_source() {
  local folder=$1 package=$2 upstream=$3 version=$4 apt=$1/apt archive
  [[ ! -e $folder/$package-$upstream ]] || return 0
  # shellcheck disable=SC2016  # apt-get's own names
  archive=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Component: main' 'Created-By: Packages' \
    | sort -u | head -n 1)
  [[ -n $archive ]] || fail "apt knows no archive of bookworm (apt-get update); or name the sources by --source"
  mkdir -p "$apt/lists/partial" "$apt/cache"
  cat > "$apt/source.sources" << END
Types: deb-src
URIs: $archive
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
  local options=(-o "Dir::Etc::sourcelist=$apt/source.sources" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  (cd "$folder" && apt-get "${options[@]}" update \
    && apt-get "${options[@]}" source --download-only "$package=$version") > "$folder/apt.log" 2>&1 \
    || { tail -3 "$folder/apt.log" >&2; fail "apt-get gives no source of $package $version"; }
  tar -xf "$folder/${package}_$upstream.orig.tar.gz" -C "$folder" || fail "the source package is no archive"
}

usage() {
  cat << END
usage: integrations/${0##*/} [--policies A,B,...]

Runs the program as it is, then under txsync with each policy (${policies[*]}), and compares the results.
Environment: TXSYNC, the command (build/release/bin/txsync); TXSYNC_INTEGRATION_LIMIT, seconds a run may take ($limit).
Exit status: 0 all results are the same, 1 some are not, 2 the command line was wrong.
END
}

seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }'; }

# print_sites NAME: the first rows of the last table of locks in a run's log.
print_sites() {
  [[ $most_waiting -gt 0 ]] || return 0
  awk -v most="$most_waiting" '
    /^ *acquisitions +% .* site$/ { rows = 0; inside = 1; next }
    inside && NF == 0 { inside = 0 }
    inside && rows < most { row[rows++] = $0 }
    END { for (i = 0; i < rows; ++i) {
      split(row[i], field); rest = row[i]
      for (k = 0; k < 9; ++k) sub(/^ *[^ ]+ +/, "", rest)
      printf "    waited %s s, %s turns: %s\n", field[3], field[1], rest } }' "$work/log-$1"
}

# measure NAME: one run; prints a line, answers whether the result is as it was without txsync.
measure() {
  local name=$1 out=$work/result-$1 start=$EPOCHREALTIME status verdict=same
  run_program "$out" > "$work/log-$name" 2>&1
  status=$?
  local seconds
  seconds=$(seconds_since "$start")
  if [[ $status -ne 0 ]]; then
    verdict="failed, status $status"
  elif [[ $name != without ]] && ! cmp -s "$work/result-without" "$out"; then
    verdict="another result"
  fi
  [[ $name != without || $verdict != same ]] || verdict=$(wc -l < "$out")" lines to compare"
  printf '  %-12s %8s s  %s\n' "$name" "$seconds" "$verdict"
  if [[ $verdict == failed* || $verdict == another* ]]; then
    tail -5 "$work/log-$name" | sed 's/^/    | /'
    [[ ! -e $out || $name == without ]] || diff "$work/result-without" "$out" | head -10 | sed 's/^/    | /'
    return 1
  fi
  print_sites "$name"
}

integration() {  # NAME ARGUMENTS
  local name=$1 failures=0 policy
  shift
  while [[ $# -gt 0 ]]; do
    case $1 in
      --policies) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; IFS=, read -ra policies <<< "$2"; shift 2 ;;
      -h | --help) usage; exit 0 ;;
      *) printf "%s: '%s' is not an option; allowed: --policies A,B,..., --help\n" "${0##*/}" "$1" >&2; exit 2 ;;
    esac
  done
  [[ -x $txsync ]] || fail "no txsync at $txsync; build it (./dev build) or name it: TXSYNC=FILE"
  work=$(mktemp -d "${TMPDIR:-/tmp}/txsync-$name.XXXXXX")
  trap 'stop_all; rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  install_packages
  prepare
  say "$name"
  under=(timeout -k 5 "$limit")
  measure without || fail "the program fails without txsync"
  for policy in "${policies[@]}"; do
    local chosen=(--policy "$policy")
    [[ $policy != none ]] || chosen=()
    under=(timeout -k 5 "$limit" "$txsync" run "${chosen[@]}" --json "$work/$policy.json" --)
    measure "$policy" || failures=$((failures + 1))
  done
  if [[ $failures -gt 0 ]]; then say "$name: $failures of ${#policies[@]} policies with another result"; exit 1; fi
  say "$name: the same result under ${#policies[@]} policies"
}

# The process of the program, where it is one that serves others. A script may end it in another way.
server=
stop_all() {
  [[ -n $server ]] || return 0
  kill -TERM "$server" 2> /dev/null
  wait "$server" 2> /dev/null
  server=
}

# A port that nobody listens at.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# await_server [TENTHS_OF_A_SECOND]: the script says in `answers` whether its server does. False: it has ended, or takes longer.
await_server() {
  local try
  for try in $(seq "${1:-100}"); do
    answers && return 0
    kill -0 "$server" 2> /dev/null || return 1
    sleep 0.1
  done
  return 1
}
