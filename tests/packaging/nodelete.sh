#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nodelete.sh READELF LIBRARY...: each library is linked so that dlclose() leaves it. Threads that it has served end
# later, and functions of the C library that it replaces keep pointing to it.
set -euo pipefail

readelf=$1
shift
for library in "$@"; do
  [[ $("$readelf" -dW "$library") == *"(FLAGS_1)"*NODELETE* ]] || { echo "$library is linked without -z nodelete" >&2; exit 1; }
done
