// SPDX-License-Identifier: Apache-2.0
// What the thesis on TSX in InnoDB measured with: its locks, plain and with Intel's prefixes, and attempts without any
// lock. For the simulated machine. These locks are for study, not for use.
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/attempt.hpp>

#include <cstdlib>

#if __has_include(<txsync_backend/runtime.h>)
#include <txsync_backend/runtime.h>
#endif

#include "workloads/subjects/exchange_lock.hpp"
#include "workloads/subjects/make_subject.hpp"
#include "workloads/subjects/sleeping.hpp"
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

/// Thesis 3.2.4: inside an attempt the word is only read, so that attempts do not nest.
class hle_outermost : public exchange_lock<acquisition::by_prefix, spinning::reads> {
 public:
  void lock(slot& mine) noexcept {
    if (machine::active() && !is_held()) return;
    exchange_lock::lock(mine);
  }
  void unlock(slot& mine) noexcept {
    if (is_held()) exchange_lock::unlock(mine);
  }
};

[[noreturn]] void give_up() noexcept {
#if __has_include(<txsync_backend/runtime.h>)
  txsync_sim_give_up("rtm_only has tried a section 200,000 times in vain, and has no lock to fall back on");
#endif
  std::abort();
}

/// Thesis 3.3, "elision only": attempts without a lock, repeated until one commits. A section that can never commit
/// would be tried for ever, so the simulation then ends with a sentence.
class rtm_only {
 public:
  struct slot {};
  rtm_only() noexcept : attempts_(machine::htm().attempts) {}

  void lock(slot&) noexcept {
    if (!attempts_) return without_attempts_.lock();
    for (std::uint64_t left = max_attempts;;) {
      const machine::attempt_status began = machine::begin();
      if (began.started()) return;
      if (--left == 0) give_up();
      machine::relax();
    }
  }
  void unlock(slot&) noexcept {
    if (!attempts_) return without_attempts_.unlock();
    machine::end();
  }

 private:
  /// For one section. It is far more than a section needs that is only disturbed by others.
  static constexpr std::uint64_t max_attempts = 200'000;

  const bool attempts_;
  tatas_lock without_attempts_;
};

/// One attempt; if it aborts, the section is not run.
class bare_attempt {
 public:
  static constexpr bool exclusive = false;
  struct slot {};
  [[gnu::always_inline]] inline bool try_section(slot&) noexcept { return machine::begin().started(); }
  void unlock(slot&) noexcept { machine::end(); }
};

template <class Adapter>
constexpr subject simulated_only(const char* name, bool speculates, const char* summary,
                                 waiting how = waiting::spins) noexcept {
  subject made = make_subject<Adapter>(name, false, how, summary);
  made.speculates = speculates;
  made.simulated_only = true;
  return made;
}

/// Variants that the thesis compared only by their locking.
template <class Lock>
constexpr subject variant_of(const char* name, bool speculates, const char* summary) noexcept {
  subject made{.name = name, .how = waiting::spins, .exclusive = true, .speculates = speculates, .summary = summary};
  made.simulated_only = true;
  made.run[static_cast<unsigned>(workload_id::lock_array)] = run_lock_array<Lock>;
  made.run[static_cast<unsigned>(workload_id::counters)] = run_counters<Lock>;
  return made;
}

using tas = exchange_lock<acquisition::plain, spinning::exchanges>;
using tas_t = exchange_lock<acquisition::plain, spinning::reads>;
using hle_tas = exchange_lock<acquisition::by_prefix, spinning::exchanges>;
using hle_tas_t = exchange_lock<acquisition::by_prefix, spinning::reads>;
template <class Word>
using hle_tas_of = exchange_lock<acquisition::by_prefix, spinning::exchanges, Word>;
using test_and_set_t = exchange_lock<acquisition::plain, spinning::reads, std::uint32_t, asking::for_one>;
using hle_test_and_set_t = exchange_lock<acquisition::by_prefix, spinning::reads, std::uint32_t, asking::for_one>;

constexpr subject table[] = {
    simulated_only<lockable<sleeping_mutex>>("sleeping", false, "sleeps at once, as glibc's default mutex",
                                             waiting::parks),
    simulated_only<tas>("tas", false, "an exchange until it was free (thesis on TSX in InnoDB)"),
    simulated_only<tas_t>("tas_t", false, "waits by reading, without backoff (thesis)"),
    simulated_only<hle_tas>("hle_tas", true, "tas with Intel's prefixes"),
    simulated_only<hle_tas_t>("hle_tas_t", true, "tas_t with Intel's prefixes"),
    variant_of<hle_tas_of<std::uint8_t>>("hle_tas_1", true, "hle_tas on a word of one byte (thesis 2.4.1)"),
    variant_of<hle_tas_of<std::uint16_t>>("hle_tas_2", true, "hle_tas on a word of two bytes (thesis 2.4.1)"),
    variant_of<hle_tas_of<std::uint64_t>>("hle_tas_8", true, "hle_tas on a word of eight bytes (thesis 2.4.1)"),
    variant_of<test_and_set_t>("test_and_set_t", false, "tas_t by a test-and-set (thesis 2.4.4)"),
    variant_of<hle_test_and_set_t>("hle_test_and_set_t", true, "hle_tas_t by a test-and-set (thesis 2.4.4)"),
    simulated_only<hle_outermost>("hle_outermost", true, "hle_tas_t that only reads inside an attempt (thesis)"),
    simulated_only<rtm_only>("rtm_only", true, "attempts without a lock, again and again"),
    simulated_only<bare_attempt>("attempt", true, "one attempt, given up where it aborts"),
};

}  // namespace

std::span<const subject> thesis_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
