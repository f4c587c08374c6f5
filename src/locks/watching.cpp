// SPDX-License-Identifier: Apache-2.0
#include "watching.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

[[gnu::tls_model("initial-exec")]] constinit thread_local detail::watch_history detail::my_watches{};

}  // namespace txsync::TXSYNC_INLINE_BACKEND
