// SPDX-License-Identifier: Apache-2.0
// An ordinary load: the runtime sees it and charges it, and does not check for data races.
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

template <class T>
inline T speculative_load(const T* place) noexcept {
  static_assert(std::is_scalar_v<T>);
  return *const_cast<const volatile T*>(place);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
