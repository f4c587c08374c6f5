// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/shared_mutex.hpp>

#include "backoff.hpp"

namespace txsync::inline TXSYNC_BACKEND {

namespace {
constexpr std::uint64_t spin_budget = 60'000;  // cycles
constexpr std::uint64_t look_distance = 256;

std::uint64_t budget() noexcept { return machine::cpu_count() > 1 ? spin_budget : 0; }
}  // namespace

void shared_mutex::lock_shared_slow() noexcept {
  const std::uint32_t site_id = observe::detail::counted_id(place());
  const std::uint64_t start = observe::detail::wait_begins(site_id);
  std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  for (;;) {
    const bool free = (seen & writer) == 0;
    // acquire pairs with the release in unlock(), where this is the entry
    if (state_.compare_exchange_weak(seen, seen + (free ? reader : waiting_reader), std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      if (free) return observe::detail::waited(site_id, machine::cycles() - start);
      break;
    }
  }
  // The writer that leaves turns this thread into a reader and flips the parity. It cannot flip back before this thread
  // has left: the next writer waits for it.
  const std::uint32_t before = seen & parity;
  const auto let_in = [&] {
    return (state_.load(std::memory_order_acquire) & parity) != before;  // pairs with the release in unlock()
  };
  for (std::uint64_t spent = 0; !let_in();) {
    if (spent < budget()) {
      detail::pause_for(look_distance);
      spent += look_distance;
      continue;
    }
    const std::uint32_t phase = phase_.load(std::memory_order_seq_cst);
    if (((phase & 1) != 0) == (before != 0)) {
      machine::park(phase_, phase);
    } else {
      machine::relax();  // the writer is between its two stores
    }
  }
  observe::detail::waited(site_id, machine::cycles() - start);
}

// By address only: the lock may be gone.
void shared_mutex::wake_writer() noexcept { machine::unpark(state_, 1); }

void shared_mutex::lock() noexcept {
  const auto keep_readers_out = [this]() noexcept {
    // acquire pairs with the readers' release
    return state_.fetch_or(writer, std::memory_order_acquire) | writer;
  };
  const auto begin_to_wait = [this]() noexcept {
    return observe::detail::wait_begins(observe::detail::counted_id(place()));
  };
  std::uint32_t seen;
  std::uint64_t start;
  if (writers_.try_lock()) {
    seen = keep_readers_out();
    if ((seen & readers_bits) == 0) return count();
    start = begin_to_wait();
  } else {
    start = begin_to_wait();
    writers_.lock();
    seen = keep_readers_out();
  }
  for (std::uint64_t spent = 0; (seen & readers_bits) != 0;) {
    if (spent < budget()) {
      detail::pause_for(look_distance);
      spent += look_distance;
    } else {
      machine::park(state_, seen);
    }
    seen = state_.load(std::memory_order_acquire);  // pairs with the readers' release
  }
  observe::detail::waited(observe::detail::counted_id(place()), machine::cycles() - start);
  count();
}

bool shared_mutex::try_lock() noexcept {
  if (!writers_.try_lock()) return false;
  std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  while ((seen & readers_bits) == 0) {
    // acquire pairs with the readers' release
    if (state_.compare_exchange_weak(seen, seen | writer, std::memory_order_acquire, std::memory_order_relaxed)) {
      count();
      return true;
    }
  }
  writers_.unlock();
  return false;
}

void shared_mutex::unlock() noexcept {
  std::uint32_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  bool told = false;
  for (;;) {
    const std::uint32_t waiting = (seen & waiting_bits) >> 14;
    if (waiting != 0 && !told) {
      // seq_cst: readers that see the old parity here may sleep, this change wakes them or keeps them up
      phase_.fetch_add(1, std::memory_order_seq_cst);
      told = true;
    }
    const std::uint32_t next = told ? (waiting * reader) | ((seen & parity) ^ parity) : seen & parity;
    // release pairs with the acquire of readers and the next writer
    if (state_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_relaxed)) break;
  }
  if (told) machine::unpark(phase_, machine::everyone);
  writers_.unlock();
}

}  // namespace txsync::inline TXSYNC_BACKEND
