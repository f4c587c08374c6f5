// SPDX-License-Identifier: Apache-2.0
// elision::part_ is 0 between trials, the part 1..4 in one, and has `changing` set while one thread, which has set it,
// is the only one to write the other members. Everything here is advice: a stale read makes one batch count in the
// wrong part, and no section wrong.
#include "speculate/trial.hpp"

#include <algorithm>

namespace txsync::inline TXSYNC_BACKEND {

constinit elision elision::unnamed_{};

void elision_trial::begin(elision& how, std::uint64_t now) noexcept {
  for (auto& one : how.best_) one.store(no_time, std::memory_order_relaxed);  // relaxed, here and below: see above
  how.sections_.store(0, std::memory_order_relaxed);
  how.length_.store(now, std::memory_order_relaxed);
  how.since_.store(now, std::memory_order_relaxed);
  how.takes_lock_.store(false, std::memory_order_relaxed);
}

/// The next trial is the later, the more often this one's answer was given before.
void elision_trial::decide(elision& how, std::uint64_t now) noexcept {
  const bool locked = how.best_[1].load(std::memory_order_relaxed) < how.best_[0].load(std::memory_order_relaxed);
  const std::uint32_t agreed = how.agreed_.load(std::memory_order_relaxed);
  const bool as_before = agreed != 0 && ((agreed & 1) != 0) == locked;
  const std::uint32_t times = as_before ? std::min(agreed / 2 + 1, most_agreed) : 1;
  how.agreed_.store(times * 2 + (locked ? 1 : 0), std::memory_order_relaxed);
  how.takes_lock_.store(locked, std::memory_order_relaxed);
  const std::uint64_t length = now - how.length_.load(std::memory_order_relaxed);
  how.since_.store(now + (length << (times + 2)), std::memory_order_relaxed);  // 8 to 256 times as far off
}

void elision_trial::end_part(elision& how, std::uint32_t part, std::uint64_t now) noexcept {
  const std::uint64_t took = now - how.since_.load(std::memory_order_relaxed);
  const std::uint64_t each = took * 1024 / std::max(1u, how.sections_.load(std::memory_order_relaxed));
  auto& best = how.best_[is_locked(part) ? 1 : 0];
  if (each < best.load(std::memory_order_relaxed)) best.store(each, std::memory_order_relaxed);
  if (part == parts) return decide(how, now);
  how.takes_lock_.store(is_locked(part + 1), std::memory_order_relaxed);
  how.sections_.store(0, std::memory_order_relaxed);
  how.since_.store(now, std::memory_order_relaxed);
}

void elision_trial::look(elision& how) noexcept {
  // acquire pairs with the release at the end: the members are those of this part
  std::uint32_t part = how.part_.load(std::memory_order_acquire);
  if ((part & changing) != 0) return;
  const std::uint64_t now = machine::cycles();
  const std::uint64_t since = how.since_.load(std::memory_order_relaxed);
  if (now < since) return;
  if (part != 0) {
    const std::uint32_t sections = how.sections_.fetch_add(batch, std::memory_order_relaxed) + batch;
    if (sections < how.policy_.trial_sections || now - since < how.policy_.trial_cycles) return;
  }
  // acquire as above; who fails has been overtaken, and looks again some other time
  if (!how.part_.compare_exchange_strong(part, part | changing, std::memory_order_acquire, std::memory_order_relaxed)) {
    return;
  }
  if (part == 0) {
    begin(how, now);
  } else {
    end_part(how, part, now);
  }
  how.part_.store(part == parts ? 0 : part + 1, std::memory_order_release);
}

}  // namespace txsync::inline TXSYNC_BACKEND
