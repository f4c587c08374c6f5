// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/wait_task.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
wait_task::result pastime::run_once(const lock_wait& wait) noexcept { return spend(wait); }
#pragma GCC diagnostic pop

}  // namespace txsync::TXSYNC_INLINE_BACKEND
