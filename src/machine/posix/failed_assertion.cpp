// SPDX-License-Identifier: Apache-2.0
#include "../failed_assertion.hpp"

#include <cstdlib>

#include <txsync/machine/environment.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

void end_with(const char* line, std::size_t length) noexcept {
  complain(line, length);
  std::abort();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
