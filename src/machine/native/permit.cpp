// SPDX-License-Identifier: Apache-2.0
#include "../posix/permit.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

bool permitted(system_call) noexcept { return true; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
