// SPDX-License-Identifier: Apache-2.0
// The first use of a policy_mutex, by threads that come at the same time while the policy of its site changes. All have
// to lock and unlock with one algorithm.
#include <atomic>
#include <cstring>

#include <txsync/policy_mutex.hpp>

#include "explorations/exploration.hpp"
#include "explorations/policy_locks.hpp"
#include "locks/tagged_lock.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

class used_first : public policy_mutex {
 public:
  used_first() noexcept : policy_mutex(policy_site) {}
};

/// The fault: a thread stores what it has read from the policy, whatever another thread has stored meanwhile.
class chosen_blindly {
 public:
  void lock() noexcept {
    detail::algorithm how = algorithm_.load();
    if (how == detail::algorithm::unknown) {
      how = detail::algorithm_of(policy::packed::of(policy_site.policy()).lock);
      algorithm_.store(how);
    }
    detail::tagged_lock core(words_, mark_, limiter_);
    if (!core.try_acquire(how, []() noexcept { return here; })) (void)core.acquire(how, {.here = here});
    if (detail::counts_waiters(how)) core.settle(how, here);
  }
  void unlock() noexcept { detail::tagged_lock(words_, mark_, limiter_).release(algorithm_.load(), here); }

 private:
  static constexpr std::uint16_t here = 1;

  detail::lock_words words_;
  std::atomic<detail::algorithm> algorithm_{detail::algorithm::unknown};
  detail::tagged_lock::mark_word mark_{0};
  concurrency_limiter limiter_;
};

template <class Lock, std::uint32_t before, std::uint32_t after>
struct first_use_test {
  static constexpr unsigned threads = 2;
  static constexpr unsigned sections = 2;

  Lock lock{};
  alignas(64) std::uint64_t count = 0;
  std::uint32_t inside = 0;
  bool met = false;

  first_use_test() noexcept { set_explored_policy(before); }

  static void body(first_use_test& me, unsigned index) {
    if (index == 0) set_explored_policy(after);
    for (unsigned i = 0; i < sections; ++i) {
      me.lock.lock();
      if (me.inside != 0) me.met = true;
      me.inside = 1;
      ++me.count;
      me.inside = 0;
      me.lock.unlock();
      // This does not change a lock that is in use.
      if (index == 1) set_explored_policy(before);
    }
  }
  const char* check() const {
    if (met) return "two threads were in the section";
    return count != std::uint64_t{threads} * sections ? "an update was lost" : nullptr;
  }
};

/// One thread's sections with tickets: each, including the first and the last, draws a ticket and serves the next.
template <std::uint32_t word>
struct turns_test {
  static constexpr unsigned sections = 3;
  by_policy<word> lock{};

  static void body(turns_test& me, unsigned) {
    for (unsigned i = 0; i < sections; ++i) {
      me.lock.lock();
      me.lock.unlock();
    }
  }
  const char* check() const {
    std::uint32_t ticket = 0;
    for (unsigned i = 0; i < sections; ++i) ticket = detail::ticket_queue::ticket_after(ticket);
    std::uint32_t found[2];
    std::memcpy(found, &lock, sizeof found);
    return found[0] == ticket && found[1] == ticket ? nullptr : "a section was entered without a ticket";
  }
};

template <std::uint32_t before, std::uint32_t after>
constexpr exploration first_use(const char* name, const char* summary) {
  using test = first_use_test<used_first, before, after>;
  return {name, summary, verdict::right, run_anew<test, test::threads>};
}

using blind_test = first_use_test<chosen_blindly, lock_policy::tatas, lock_policy::fifo_ticket>;

constexpr exploration table[] = {
    first_use<lock_policy::mutex, lock_policy::ticket>("policy_mutex-first",
                                                       "first use, the policy changes from mutex to ticket"),
    first_use<lock_policy::ticket, lock_policy::tatas>("policy_mutex-first-ticket", "from ticket to tatas"),
    first_use<lock_policy::tatas, lock_policy::fifo_ticket>("policy_mutex-first-tatas", "from tatas to fifo_ticket"),
    first_use<lock_policy::fifo_ticket, lock_policy::mutex>("policy_mutex-first-fifo_ticket",
                                                            "from fifo_ticket to mutex"),
    first_use<lock_policy::spin, lock_policy::ticket>("policy_mutex-first-spin", "from spin to ticket"),
    {"policy_mutex-ticket-turns", "sections of one thread, each with its ticket", verdict::right,
     run_anew<turns_test<lock_policy::ticket>, 1>},
    {"policy_mutex-fifo_ticket-turns", "the same, fifo_ticket", verdict::right,
     run_anew<turns_test<lock_policy::fifo_ticket>, 1>},
    {"seeded:policy_mutex-first", "who comes second does not take what the first has chosen", verdict::broken,
     run_anew<blind_test, blind_test::threads>},
};

}  // namespace

std::span<const exploration> first_use_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
