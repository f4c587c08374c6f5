#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbol_versions.sh LIBRARY LIBC: each lock function of LIBRARY has the versions that it has in LIBC. Not the condition
# variables of before glibc 2.3.2, which were other objects. And LIBRARY takes no key of the program.
set -eu
versions() {
  readelf -W --dyn-syms "$1" | awk '$4 == "FUNC" && $7 != "UND" { print $8 }' \
    | grep -E '^(pthread_(mutex|rwlock|spin|cond|barrier)_|mtx_|cnd_)' | grep -vE '^pthread_cond_.*[^@]@GLIBC_2\.2\.5$' | sort
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
versions "$1" > "$folder/ours"
versions "$2" | grep -vE '_(consistent|consistent_np|[gs]etprioceiling)@' > "$folder/theirs"
[ -s "$folder/ours" ]
if readelf -W --dyn-syms "$1" | grep ' pthread_key_create'; then exit 1; fi
diff "$folder/ours" "$folder/theirs"
