// SPDX-License-Identifier: Apache-2.0
#include "../posix/copies.hpp"

namespace txsync::inline TXSYNC_BACKEND::machine::detail {

void look_for_other_copies() noexcept {}

}  // namespace txsync::inline TXSYNC_BACKEND::machine::detail
