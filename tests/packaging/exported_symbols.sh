#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# exported_symbols.sh LIBRARY: a shared txsync exports only names of txsync's native back end. It exports no code of
# another library, no C name and no instantiation of a standard template. Nor does it export names of a back end that
# only tests use.
set -euo pipefail

library=$1
# Demangled kinds that belong to a txsync name.
allowed='^((typeinfo( name)?|vtable|VTT|guard variable|TLS (wrapper|init) function|non-virtual thunk) (for|to) )?txsync::native::'
# Names that every later version of this minor version must still have.
required=('txsync::native::tatas_lock::lock_slow(txsync::native::wait_task*)' 'txsync::native::machine::htm()' 'txsync::native::mutex::lock_contended()'
  'txsync::native::barrier::arrive_and_wait()' 'txsync::native::shared_mutex::lock()'
  'txsync::native::commit_coarsened()' 'txsync::native::load_policy[abi:cxx11](char const*)' 'txsync::native::site::unnamed_' 'txsync::native::detail::undecided' 'txsync::native::detail::my_attempt_frame'
  'txsync::native::detail::leave_elided(void const*)' 'txsync::native::condition_variable::announce(unsigned long)')

# Function objects of the standard library's headers (u: unique, V: weak) are in no code that was optimized, and
# nobody's interface.
symbols=$(nm --dynamic --defined-only --demangle --format=posix "$library" | grep -vE '^std::[^ ]* [uV] ' | sed -E 's/ [A-Za-z] [0-9a-f]*( [0-9a-f]*)?$//')
strangers=$(grep -vE "$allowed" <<< "$symbols" || true)
if [[ -n $strangers ]]; then
  echo "$library exports names that are not txsync's; mark only what public headers declare with TXSYNC_EXPORT:" >&2
  echo "$strangers" >&2
  exit 1
fi
for name in "${required[@]}"; do
  grep -qxF "$name" <<< "$symbols" || { echo "$library does not export $name" >&2; exit 1; }
done
echo "$(wc -l <<< "$symbols") exported names, all of txsync::native"
