// SPDX-License-Identifier: Apache-2.0
// As natively. It is not a step of the script, because no decision depends on it.
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

template <class T>
inline T speculative_load(const T* place) noexcept {
  static_assert(std::is_scalar_v<T>);
  return *const_cast<const volatile T*>(place);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
