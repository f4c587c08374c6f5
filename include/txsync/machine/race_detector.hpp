// SPDX-License-Identifier: Apache-2.0
// ThreadSanitizer's own functions for an order that it cannot see. Not for the simulated machine, which is compiled
// with that sanitizer's hooks and has no such functions.
#pragma once

#include <txsync_backend/name.hpp>

#if defined(__SANITIZE_THREAD__)
#define TXSYNC_RACE_DETECTOR 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TXSYNC_RACE_DETECTOR 1
#endif
#endif

extern "C" {
#ifdef TXSYNC_RACE_DETECTOR
void __tsan_acquire(void* address);
void __tsan_release(void* address);
#elif !defined(TXSYNC_PRELOADED)
// For programs that use the detector, whether or not the library is compiled with it. Not for the preloaded library: it
// is loaded before the detector has begun, and its locks are pthread's, which the detector knows.
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
#endif
}

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

#ifdef TXSYNC_RACE_DETECTOR
inline void annotate_acquire(const void* lock) noexcept { __tsan_acquire(const_cast<void*>(lock)); }
inline void annotate_release(const void* lock) noexcept { __tsan_release(const_cast<void*>(lock)); }
inline void annotate_unseen_acquire(const void*) noexcept {}
inline void annotate_unseen_release(const void*) noexcept {}
#else
inline void annotate_acquire(const void*) noexcept {}
inline void annotate_release(const void*) noexcept {}
#ifdef TXSYNC_PRELOADED
inline void annotate_unseen_acquire(const void*) noexcept {}
inline void annotate_unseen_release(const void*) noexcept {}
#else
inline void annotate_unseen_acquire(const void* word) noexcept {
  if (&__tsan_acquire != nullptr) [[unlikely]]
    __tsan_acquire(const_cast<void*>(word));
}
inline void annotate_unseen_release(const void* word) noexcept {
  if (&__tsan_release != nullptr) [[unlikely]]
    __tsan_release(const_cast<void*>(word));
}
#endif
#endif

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
