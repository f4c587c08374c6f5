// SPDX-License-Identifier: Apache-2.0
// Inside the scripted machine: what the script has said, and what has happened.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <string>

#include "../posix/permit.hpp"
#include "script.hpp"
#include "unseen.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::script {

/// Calls that are to fail. Each is counted down from when it was ordered.
class countdowns {
 public:
  void add(unsigned nth) { left_.push_back(nth); }
  /// Counts one call; true if it has to fail.
  bool strike() {
    bool hit = false;
    for (auto at = left_.begin(); at != left_.end();) {
      hit |= --*at == 0;
      at = *at == 0 ? left_.erase(at) : std::next(at);
    }
    return hit;
  }

 private:
  std::list<unsigned> left_;
};

struct cpu_settings {
  bool has_cpuid = true;
  std::map<std::pair<std::uint32_t, std::uint32_t>, machine_script::registers> leaves;
  begin_nature nature = begin_nature::illegal;
  std::optional<machine::htm_claim> claim;
  std::optional<machine::htm_capability> htm;
  bool hle = false;
  bool suspend = false;
  bool rollback_only = false;
  unsigned deepest = 7;
  bool tells_depth = false;
  std::uint32_t system_call_status = 0;
};

struct attempt_plans {
  std::deque<plan> begins;
  std::vector<plan> in_turn;
  std::size_t turns = 0;  ///< how many of `in_turn` were used
  plan by_default = plan::commits();
  std::deque<plan> warm;
  std::deque<plan> hle;
};

struct system_settings {
  std::map<machine::detail::system_call, countdowns> failures;
  std::vector<machine::detail::cpu_place> cpus{{0, 0, 0}, {1, 1, 0}, {2, 0, 0}, {3, 1, 0}};
  bool refuse_pin = false;
  bool realtime = false;
  std::vector<unsigned> pins;
  std::map<std::string, std::string> environment;
  std::uint64_t seed = 1;
  std::string kernel = "Linux 6.1.0";
  std::string libc = "glibc 2.36";
  bool restartable = false;
};

struct sleeper {
  const void* address;
  bool woken = false;
  std::condition_variable_any told;
};

struct parking {
  std::list<sleeper*> asleep;  // oldest first
  std::deque<machine::park_result> park_answers;
  std::deque<unsigned> unpark_answers;
};

/// The whole state. `guard` protects what is not atomic. It is never held where an attempt may abort, and is taken
/// after `attempting`.
struct state {
  unseen_mutex guard;
  cpu_settings cpu;
  attempt_plans plans;
  system_settings system;
  parking park;
  std::uint64_t generation = 0;  ///< grows whenever htm() may have a new answer

  // Relaxed everywhere: the clock and the counters guard no other data.
  std::atomic<std::uint64_t> now{1};
  std::atomic<std::uint64_t> step_per_look{1};
  std::atomic<std::uint64_t> step_per_relax{10};
  std::atomic<unsigned> releases_to_interrupt{0};
  std::atomic<bool> attempts_exclude{false};
  unseen_turn attempting;  ///< if attempts exclude each other: held by the thread that is in one

  struct tallies {
    std::atomic<std::uint64_t> begins{0}, commits{0}, aborts{0}, warm_begins{0}, elisions{0}, elisions_ended{0},
        prefetches_to_read{0}, prefetches_to_write{0}, relaxes{0}, yields{0}, sleeps{0}, parks{0}, unparks{0},
        settles{0};
  } tally;
};

/// The one state, made at the first call and never destroyed, because threads may outlive main().
state& the_state();

inline void count(std::atomic<std::uint64_t>& tally) noexcept { tally.fetch_add(1, std::memory_order_relaxed); }

/// Ends the program with a sentence: the code under test did what no CPU allows.
[[noreturn]] void refuse(const char* what) noexcept;

/// Empties the file system.
void reset_files();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::script

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Counts a call of the seam inside an attempt. If the plan says to abort at this call, it does not return.
void scripted_step() noexcept;

/// For calls that are system calls natively: aborts the thread's attempt. Requires: no lock of the machine is held.
void scripted_system_call() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
