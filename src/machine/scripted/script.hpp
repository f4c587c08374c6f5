// SPDX-License-Identifier: Apache-2.0
// What a test says to the scripted machine. The machine's threads are real; all else answers as it is told.
//
// A test makes one machine_script, which resets everything, tells it what it wants, and runs code that was compiled for
// the scripted back end. All functions may be called from any thread at any time, also while that code runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/capability.hpp>
#include <txsync/machine/park.hpp>

#include "../placement_order.hpp"
#include "script_files.hpp"

namespace txsync::inline TXSYNC_BACKEND::script {

using machine::attempt_status;

/// The most of a thread's stack that an abort puts back, counted from begin()'s caller upwards. What other threads
/// store there during the attempt is lost with it: keep data that threads share elsewhere.
inline constexpr std::size_t snapshot_bytes = std::size_t{64} << 10;

/// What one begin() does. `status` is a raw attempt_status, for example attempt_status::conflict_bit.
struct plan {
  enum class point : std::uint8_t { never, at_begin, at_step, at_end };

  /// Starts, and commits if the program ends it. An explicit abort comes back with its code, as under every plan.
  static constexpr plan commits() { return {point::never, 0, 0}; }
  /// Never starts: begin() answers `status`.
  static constexpr plan aborts(std::uint32_t status) { return {point::at_begin, 0, status}; }
  /// Starts, and aborts at the n-th call of the seam inside (1 is the first). begin() of an inner level, end(), a
  /// clock, a hint, a release of a lock count; active(), depth() and warm_active() do not.
  static constexpr plan aborts_at_step(unsigned n, std::uint32_t status) { return {point::at_step, n, status}; }
  /// Starts, and aborts where it would commit.
  static constexpr plan aborts_at_end(std::uint32_t status) { return {point::at_end, 0, status}; }

  point where;
  unsigned step;
  std::uint32_t status;
};

/// What the begin instruction is on this CPU.
enum class begin_nature : std::uint8_t {
  illegal,        ///< unknown: begin() ends the program with a message, as the CPU would with a signal
  always_aborts,  ///< answers status 0, whatever is planned
  commits         ///< does what is planned; a trial (machine::try_htm) commits
};

/// What has happened since the last reset.
struct counts {
  std::uint64_t begins = 0;  ///< outermost ones, trials not counted; of them:
  std::uint64_t commits = 0;
  std::uint64_t aborts = 0;
  std::uint64_t warm_begins = 0;  ///< not in begins, their aborts not in aborts
  std::uint64_t elisions = 0;     ///< HLE; likewise
  std::uint64_t elisions_ended = 0;
  std::uint64_t prefetches_to_read = 0;
  std::uint64_t prefetches_to_write = 0;
  std::uint64_t relaxes = 0;
  std::uint64_t yields = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t parks = 0;
  std::uint64_t unparks = 0;
  std::uint64_t settles = 0;
};

class machine_script {
 public:
  /// Resets the machine: a CPU without transactions (no RTM in CPUID, begin illegal), two cores of two hardware threads
  /// in one socket, a clock that steps, an empty file system, no environment variables, seed 1, nothing fails.
  /// Requires: no other machine_script lives, and no thread is inside an attempt or asleep in park().
  machine_script();
  ~machine_script();
  machine_script(const machine_script&) = delete;
  machine_script& operator=(const machine_script&) = delete;

  // --- the CPU ---
  using registers = std::array<std::uint32_t, 4>;  ///< eax, ebx, ecx, edx
  void answer_cpuid(std::uint32_t leaf, std::uint32_t subleaf, registers answer);
  void forbid_cpuid();  ///< a CPU without CPUID
  void claim_rtm();     ///< sets CPUID's RTM bit
  void begin_is(begin_nature nature);
  /// claim_rtm() and begin_nature::commits: the CPU that works.
  void have_rtm();
  /// Answers this for machine::claimed_htm(), instead of asking CPUID.
  void claim_is(machine::htm_claim claim);
  /// Answers this for machine::htm(), instead of trying.
  void htm_is(const machine::htm_capability& capability);
  /// The extras that a trial finds with working attempts.
  void extras_are(bool hle, bool suspend, bool rollback_only);
  void nesting_is(unsigned deepest);  ///< 7 after a reset; one level more aborts with attempt_status::nested_bit
  void depth_is_told(bool exactly);   ///< else depth() is 1 at any depth, as on RTM
  void system_calls_abort_with(std::uint32_t status);  ///< 0 after a reset, as on RTM

  // --- attempts: each list is used up in the order of the begins of all threads, then the default holds ---
  void on_begin(plan next);
  void on_begin(std::initializer_list<plan> next);
  void on_begin_by_default(plan always);  ///< commits() after a reset
  /// Comes after the list and before the default: these plans, in this order, again and again; none after a reset.
  void on_begins_in_turn(std::vector<plan> again_and_again);
  /// From now on one attempt runs at a time, and await_attempts() waits for it. Its stores are undone before a thread
  /// that waits there returns. A race detector does not see this. An abort then restores only the frame of the function
  /// that called begin(), and no more of the stack; so that function must call end() too. Without this (after a reset)
  /// attempts run concurrently with each other and with all other code. Always-abort attempts do so anyway.
  void attempts_exclude_each_other();
  void on_warm_begin(plan next);    ///< for warm_begin(); the default starts and waits for an abort
  void on_hle(plan next);           ///< for hle_acquire(); the default does not elide
  std::size_t begins_left() const;  ///< plans of on_begin() that are not used up

  // --- releases ---
  void interrupt_releases(unsigned next);  ///< so many release_unless_waited() answer false without a waiter

  // --- the clock, in nanoseconds; cycles() counts the same unless cycles_per_second() differs ---
  void clock_steps(std::uint64_t per_look, std::uint64_t per_relax);  ///< 1 and 10 after a reset
  void clock_by_hand(std::uint64_t now);                              ///< moves by advance() and sleeping only
  void advance(std::uint64_t duration);
  std::uint64_t now() const;

  // --- parking: real unless told; with a deadline and a clock that steps, a millisecond asleep is one on the clock ---
  void on_park(machine::park_result next);  ///< the next park() answers this at once; timed_out moves the clock there
  void on_unpark(unsigned answer);          ///< the next unpark() wakes nobody and answers this
  unsigned parked() const;                  ///< threads that sleep in park() now

  // --- the system: `nth` counts calls from now, 1 is the next ---
  void fail_thread_start(unsigned nth);
  void fail_map_pages(unsigned nth);
  void fail_protect_pages(unsigned nth);
  void fail_fault_handler(unsigned nth);
  void cpus_are(std::vector<machine::detail::cpu_place> places);
  void refuse_pin(bool refuse);
  /// All threads have a real-time priority.
  void realtime(bool have);
  std::vector<unsigned> pins() const;  ///< the CPUs given to pin(), in order
  void set_environment(const std::string& name, std::optional<std::string> value);
  void seed_is(std::uint64_t seed);
  void kernel_is(const std::string& text);  ///< "Linux 6.1.0" after a reset
  void libc_is(const std::string& text);    ///< "glibc 2.36" after a reset
  void releases_are_restartable(bool answer);

  file_system& files();
  counts counted() const;
};

}  // namespace txsync::inline TXSYNC_BACKEND::script
