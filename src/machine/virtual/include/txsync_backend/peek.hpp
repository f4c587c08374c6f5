// SPDX-License-Identifier: Apache-2.0
// A load like any other: the runtime sees and charges it, and knows of no data races.
#pragma once

namespace txsync::inline TXSYNC_BACKEND::machine {

template <class T>
inline T peek(const T* place) noexcept {
  static_assert(std::is_scalar_v<T>);
  return *const_cast<const volatile T*>(place);
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine
