// SPDX-License-Identifier: Apache-2.0
#include "deferred_wakes.hpp"

#include <txsync/machine/park.hpp>

namespace txsync::inline TXSYNC_BACKEND::detail {

namespace {

struct deferred_wake {
  const std::atomic<std::uint64_t>* word;
  const void* mutex;
  unsigned count;
};
constexpr unsigned max_deferred = 8;
constinit thread_local deferred_wake deferred[max_deferred] = {};
constinit thread_local unsigned deferred_count = 0;

/// Takes it out of the list before it wakes: whoever looks for more begins anew.
void wake_at(unsigned index) noexcept {
  const deferred_wake one = deferred[index];
  deferred[index] = deferred[--deferred_count];
  machine::unpark_high(*one.word, one.count);
}

constexpr unsigned sum_of(unsigned one, unsigned other) noexcept {
  return one > machine::everyone - other ? machine::everyone : one + other;
}

}  // namespace

bool defer_wake(const std::atomic<std::uint64_t>& word, unsigned count, const void* mutex) noexcept {
  for (unsigned i = 0; i < deferred_count; ++i) {
    deferred_wake& known = deferred[i];
    if (known.word != &word || known.mutex != mutex) continue;
    known.count = sum_of(known.count, count);
    return true;
  }
  if (deferred_count == max_deferred) return false;
  deferred[deferred_count++] = {&word, mutex, count};
  return true;
}

void wake_deferred_by(const void* mutex) noexcept {
  for (unsigned i = deferred_count; i-- != 0;) {
    if (deferred[i].mutex == mutex) wake_at(i);
  }
}

void wake_deferred_at(const std::atomic<std::uint64_t>& word) noexcept {
  for (unsigned i = deferred_count; i-- != 0;) {
    if (deferred[i].word == &word) wake_at(i);
  }
}

}  // namespace txsync::inline TXSYNC_BACKEND::detail
