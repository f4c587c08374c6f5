// SPDX-License-Identifier: Apache-2.0
// ThreadSanitizer's own words for "ordered by something that you do not see". Not for the simulated machine, which is
// compiled with that sanitizer's hooks and has no such functions.
#pragma once

#include <txsync_backend/name.hpp>

#if defined(__SANITIZE_THREAD__)
#define TXSYNC_RACE_DETECTOR 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TXSYNC_RACE_DETECTOR 1
#endif
#endif

#ifdef TXSYNC_RACE_DETECTOR
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace txsync::inline TXSYNC_BACKEND::machine {

#ifdef TXSYNC_RACE_DETECTOR
inline void annotate_acquire(const void* lock) noexcept { __tsan_acquire(const_cast<void*>(lock)); }
inline void annotate_release(const void* lock) noexcept { __tsan_release(const_cast<void*>(lock)); }
#else
inline void annotate_acquire(const void*) noexcept {}
inline void annotate_release(const void*) noexcept {}
#endif

}  // namespace txsync::inline TXSYNC_BACKEND::machine
