// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/shared_mutex.hpp>

#include "backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {
constexpr std::uint64_t spin_budget = 60'000;  // cycles
constexpr std::uint64_t look_distance = 256;
constexpr std::uint64_t nap_ns = 1'000'000;

std::uint64_t budget() noexcept { return machine::cpu_count() > 1 ? spin_budget : 0; }
}  // namespace

bool shared_mutex::lock_shared_slow(std::uint64_t deadline) noexcept {
  const std::uint32_t site_id = observe::detail::counted_id(get_site());
  const std::uint64_t start = observe::detail::wait_begins(site_id, this);
  const bool got = machine::annotate_unseen_acquire_if(wait_to_read(deadline), &state_);
  const auto ends = got ? observe::detail::waited : observe::detail::wait_timed_out;
  ends(site_id, this, machine::cycles() - start);
  return got;
}

/// In the child of a fork the parent's waiting readers do not exist.
std::uint64_t shared_mutex::without_parents_readers(std::uint64_t seen) noexcept {
  const std::uint64_t here = std::uint64_t{machine::fork_count()} << process_shift & process_bits;
  return (seen & process_bits) == here ? seen : (seen & ~(waiting_bits | process_bits)) | here;
}

bool shared_mutex::wait_to_read(std::uint64_t deadline) noexcept {
  std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  for (;;) {
    const bool free = (seen & writer) == 0;
    const std::uint64_t counted = without_parents_readers(seen);
    // There is no room to enter, or to be counted as a waiting reader.
    if (free ? (seen & full) != 0 : (counted & waiting_bits) == waiting_bits) {
      if (!detail::nap(nap_ns, deadline)) return false;
      seen = state_.load(std::memory_order_relaxed);  // relaxed: as above
      continue;
    }
    // acquire pairs with the release in unlock(), if this is the entry
    const std::uint64_t next = free ? seen + reader : counted + waiting_reader;
    if (state_.compare_exchange_weak(seen, next, std::memory_order_acquire, std::memory_order_relaxed))
      return free || await_turn(seen & parity, deadline);
  }
}

/// Requires: the thread is counted among the waiting readers, since the parity was `before`.
///
/// The writer that leaves turns this thread into a reader and flips the parity. The parity cannot flip back before this
/// thread has left. Only a writer that was inside flips it, and the next writer waits for this reader. After a writer
/// that has given up, the waiting threads enter by themselves.
bool shared_mutex::await_turn(std::uint64_t before, std::uint64_t deadline) noexcept {
  TXSYNC_ASSERT((state_.load(std::memory_order_relaxed) & waiting_bits) != 0 ||
                    (state_.load(std::memory_order_relaxed) & parity) != before,
                "the thread is counted among the waiting readers, or was let in");
  std::uint64_t spun = 0;
  for (bool late = false;;) {
    std::uint64_t seen = state_.load(std::memory_order_acquire);  // pairs with the release in unlock()
    if ((seen & parity) != before) return true;
    const std::uint64_t left = seen - waiting_reader;
    if ((seen & writer) == 0) {
      // acquire pairs with the release in unlock() of an earlier writer
      if (state_.compare_exchange_weak(seen, left + reader, std::memory_order_acquire)) return true;
    } else if (late) {
      // relaxed: orders nothing
      if (state_.compare_exchange_weak(seen, left, std::memory_order_relaxed)) return false;
    } else if (spun < budget()) {
      detail::pause_for(look_distance);
      spun += look_distance;
      late = detail::is_past(deadline);
    } else {
      const auto high = static_cast<std::uint32_t>(seen >> waiting_shift);
      late = machine::park_high(state_, high, deadline) == machine::park_result::timed_out;
    }
  }
}

// By address only: the lock may be gone.
void shared_mutex::wake_writer() noexcept { machine::unpark_low(state_, 1); }

void shared_mutex::lock() noexcept { (void)try_lock_until_ns(machine::no_deadline); }

bool shared_mutex::try_lock_until_ns(std::uint64_t deadline) noexcept {
  const auto begin_to_wait = [this]() noexcept {
    return observe::detail::wait_begins(observe::detail::counted_id(get_site()), this);
  };
  const auto end_wait = [this](std::uint64_t start, auto how) noexcept {
    how(observe::detail::counted_id(get_site()), this, machine::cycles() - start);
  };
  const bool first = writers_.try_lock();
  std::uint64_t start = first ? 0 : begin_to_wait();
  if (!first && !writers_.try_lock_until_ns(deadline)) {
    end_wait(start, observe::detail::wait_timed_out);
    return false;
  }
  // acquire pairs with the readers' release
  const std::uint64_t seen = state_.fetch_or(writer, std::memory_order_acquire) | writer;
  const bool beside_readers = (seen & readers_bits) != 0;
  if (first && beside_readers) start = begin_to_wait();
  if (beside_readers && !await_readers(seen, deadline)) {
    end_wait(start, observe::detail::wait_timed_out);
    return false;
  }
  machine::annotate_unseen_acquire(&state_);
  if (!first || beside_readers) end_wait(start, observe::detail::waited);
  count();
  return true;
}

/// Requires: the thread has set `writer`. True: it is inside.
bool shared_mutex::await_readers(std::uint64_t seen, std::uint64_t deadline) noexcept {
  TXSYNC_ASSERT(has_writer(), "the thread has announced itself as the writer");
  for (std::uint64_t spun = 0; (seen & readers_bits) != 0;) {
    bool late;
    if (spun < budget()) {
      detail::pause_for(look_distance);
      spun += look_distance;
      late = detail::is_past(deadline);
    } else {
      late = machine::park_low(state_, static_cast<std::uint32_t>(seen), deadline) == machine::park_result::timed_out;
    }
    seen = state_.load(std::memory_order_acquire);  // pairs with the readers' release
    if (late && withdraw(seen)) return false;
  }
  return true;
}

/// The writer leaves without having entered. False: it is inside, since the readers have left.
bool shared_mutex::withdraw(std::uint64_t& seen) noexcept TXSYNC_UNCHECKED {
  while ((seen & readers_bits) != 0) {
    // acquire pairs with the readers' release, if they have left
    if (!state_.compare_exchange_weak(seen, seen & ~writer, std::memory_order_acquire)) continue;
    if ((seen & waiting_bits) != 0) machine::unpark_high(state_, machine::everyone);
    writers_.unlock();
    return true;
  }
  return false;
}

bool shared_mutex::try_lock() noexcept {
  if (!writers_.try_lock()) return false;
  std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  while ((seen & readers_bits) == 0) {
    // acquire pairs with the readers' release
    if (state_.compare_exchange_weak(seen, seen | writer, std::memory_order_acquire, std::memory_order_relaxed)) {
      machine::annotate_unseen_acquire(&state_);
      count();
      return true;
    }
  }
  writers_.unlock();
  return false;
}

void shared_mutex::unlock() noexcept {
  TXSYNC_ASSERT(has_writer() && writers_.is_held(), "the calling thread holds the lock exclusively");
  machine::annotate_unseen_release(&state_);
  std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  do {
    if ((seen & waiting_bits) != 0) [[unlikely]]
      return unlock_to_readers();
    // release pairs with the acquire of readers and the next writer
  } while (!state_.compare_exchange_weak(seen, seen & parity, std::memory_order_release, std::memory_order_relaxed));
  writers_.unlock();
}

/// The writer's half of an unlock. Readers may wait: of this process, or of its parent in the child of a fork.
[[gnu::always_inline]] inline void shared_mutex::let_readers_in() noexcept {
  std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  std::uint64_t waiting;
  std::uint64_t next;
  do {
    waiting = (without_parents_readers(seen) & waiting_bits) >> waiting_shift;
    next = waiting != 0 ? waiting * reader | ((seen & parity) ^ parity) : seen & parity;
    // release: as in unlock()
  } while (!state_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_relaxed));
  // Readers that see the old parity and are about to sleep find the high half changed.
  if (waiting != 0) machine::unpark_high(state_, machine::everyone);
}

[[gnu::noinline]] void shared_mutex::unlock_to_readers() noexcept TXSYNC_UNCHECKED {
  let_readers_in();
  writers_.unlock();
}

void shared_mutex::unlock_fair() noexcept {
  TXSYNC_ASSERT(has_writer() && writers_.is_held(), "the calling thread holds exclusively what it hands over");
  machine::annotate_unseen_release(&state_);
  let_readers_in();
  writers_.unlock_fair();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND
