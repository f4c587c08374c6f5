#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbol_versions.sh LIBRARY LIBC: each lock function of LIBRARY has the names and versions that it has in LIBC, and so have those
# that start programs. Not the condition variables of before glibc 2.3.2, which were other objects, nor the spawn functions of
# before glibc 2.15, which did other things. And LIBRARY takes no key of the program, and calls no other
# functions than these, since another preloaded library may have replaced them (src/preload/system_calls.cpp).
set -eu
versions() {
  readelf -W --dyn-syms "$1" | awk '$4 == "FUNC" && $7 != "UND" { print $8 }' \
    | grep -E '^((__)?pthread_(mutex|rwlock|spin|cond|barrier)_|mtx_|cnd_|(execvp?e?|posix_spawnp?)@)' \
    | grep -vE '^(pthread_cond_[a-z]*|posix_spawnp?)@GLIBC_2\.2\.5$' | sort
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
versions "$1" > "$folder/ours"
versions "$2" | grep -vE '_(consistent|consistent_np|[gs]etprioceiling)@' > "$folder/theirs"
[ -s "$folder/ours" ]
if readelf -W --dyn-syms "$1" | grep ' pthread_key_create'; then exit 1; fi
diff "$folder/ours" "$folder/theirs"

# Compute only, or end the process.
allowed=' __errno_location __sched_cpucount _setjmp __sigsetjmp longjmp abort raise _ZSt24__throw_out_of_range_fmtPKcz memcmp memcpy memmove memset strchr strlen strncpy strtoull snprintf '
# What the loader and the C library alone know. A C++ library or an OpenMP library in the program has no part in them.
allowed="$allowed dlsym dlvsym _dl_find_object getauxval secure_getenv sysconf __cxa_finalize __register_atfork __progname_full __curbrk "
allowed="$allowed program_invocation_name pthread_once pthread_setcancelstate pthread_setcanceltype __pthread_register_cancel "
allowed="$allowed __pthread_unregister_cancel "
# For objects that are left to the C library, and once a thread ran ahead and met a fault.
allowed="$allowed pthread_mutex_consistent pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_setrobust "
allowed="$allowed pthread_mutexattr_settype pthread_sigmask signal sigaction sigaddset sigemptyset "
# The unwinder's, for tables that are registered at run time. The cancellation point of src/machine/native/cancel.cpp.
allowed="$allowed malloc free read "
readelf -W --dyn-syms "$1" | awk '$5 == "GLOBAL" && $7 == "UND" { sub(/@.*/, "", $8); print $8 }' > "$folder/called"
[ -s "$folder/called" ]
while read -r name; do
  case $allowed in
    *" $name "*) ;;
    *) echo "the library calls $name(), which another preloaded library may replace" && exit 1 ;;
  esac
done < "$folder/called"
