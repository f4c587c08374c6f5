// SPDX-License-Identifier: Apache-2.0
// What attempts_never_work() reads. It has a file of its own: the preloaded libraries do not ask, and need not try the
// machine when they are loaded.
#include <txsync/machine/attempt.hpp>

#if defined(__x86_64__) || defined(__powerpc64__) || defined(__s390x__)
namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

const facility attempts_at_load = htm().attempts ? facility::present : facility::absent;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
#endif
