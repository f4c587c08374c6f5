// SPDX-License-Identifier: Apache-2.0
#include "../posix/copies.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

void look_for_other_copies() noexcept {}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
