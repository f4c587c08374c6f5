// SPDX-License-Identifier: Apache-2.0
#include "deferred_wakes.hpp"

#include <txsync/machine/park.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

namespace {

/// A wake-up of one thread, or of all. It is small, because each thread has some of them. A library that is loaded late
/// has room for few thread-local bytes (tests/packaging).
struct deferred_wake {
  const std::atomic<std::uint64_t>* word;  ///< null: this entry is free
  std::uintptr_t mutex;                    ///< or'ed with `everybody`
};
constexpr std::uintptr_t everybody = 1;
constexpr unsigned max_deferred = 2;
constinit thread_local deferred_wake deferred[max_deferred] = {};

/// Takes the entry out of the list before it wakes.
void wake(deferred_wake& place) noexcept {
  const deferred_wake one = place;
  place = {};
  machine::unpark_high(*one.word, (one.mutex & everybody) != 0 ? machine::everyone : 1);
}

}  // namespace

bool defer_wake(const std::atomic<std::uint64_t>& word, bool of_everybody, const void* mutex) noexcept {
  const std::uintptr_t wanted = reinterpret_cast<std::uintptr_t>(mutex) | (of_everybody ? everybody : 0);
  for (deferred_wake& place : deferred) {
    if (place.word != nullptr) continue;
    place = {&word, wanted};
    return true;
  }
  return false;
}

void wake_deferred_by(const void* mutex) noexcept {
  for (deferred_wake& place : deferred) {
    if (place.word != nullptr && (place.mutex & ~everybody) == reinterpret_cast<std::uintptr_t>(mutex)) wake(place);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail
