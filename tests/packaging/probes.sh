#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# probes.sh HAVE_SDT READELF LIBRARY...
# Each library has the four probes, once each, with their arguments and a semaphore: what perf and bpftrace read.
set -euo pipefail

have_sdt=$1 readelf=$2
shift 2
if [[ $have_sdt != 1 ]]; then
  echo "built without <sys/sdt.h> (systemtap-sdt-dev): no probes"
  exit 77
fi
wanted='abort 5
fallback 5
wait_begin 3
wait_end 5'
for library in "$@"; do
  # Of each note the provider, the name and the number of arguments.
  found=$("$readelf" -nW "$library" | awk '/Provider: /{provider=$NF} /Name: /{name=$NF} /Arguments:/{if (provider == "txsync") print name, NF - 1}' | sort)
  if [[ $found != "$wanted" ]]; then
    printf '%s has these probes and numbers of arguments:\n%s\nbut should have\n%s\n' "$library" "$found" "$wanted" >&2
    exit 1
  fi
  # By it the library knows that a tool is there, and looks up no name for nobody.
  [[ $library == *.a ]] && continue  # their places are filled in by the linker
  if "$readelf" -nW "$library" | grep -A3 'Provider: txsync' | grep -q 'Semaphore: 0x0*$'; then
    echo "$library has a probe of txsync without a semaphore" >&2
    exit 1
  fi
done
echo "$# libraries with four probes each"
