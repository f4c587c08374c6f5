// SPDX-License-Identifier: Apache-2.0
// What a test says to the scripted machine. The machine's threads are real; everything else answers as the script says.
//
// A test makes one machine_script, which resets everything. It then scripts what it needs, and runs code that was
// compiled for the scripted back end. All functions may be called from any thread at any time, also while that code
// runs.
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

namespace txsync::TXSYNC_INLINE_BACKEND::script {

using machine::attempt_status;

/// An abort restores at most this much of a thread's stack, counted from begin()'s caller upwards. What other threads
/// store there during the attempt is lost; keep data that threads share elsewhere.
inline constexpr std::size_t snapshot_bytes = std::size_t{64} << 10;

/// What one begin() does. `status` is a raw attempt_status, for example attempt_status::conflict_bit.
struct plan {
  enum class point : std::uint8_t { never, at_begin, at_step, at_end };

  /// Starts, and commits if the program ends it. As under every plan, an explicit abort returns with its code.
  static constexpr plan commits() { return {point::never, 0, 0}; }
  /// Never starts: begin() returns `status`.
  static constexpr plan aborts(std::uint32_t status) { return {point::at_begin, 0, status}; }
  /// Starts, and aborts at the n-th call of the seam inside (1 is the first). begin() of an inner level, end(), a
  /// clock, a hint and a release of a lock count; active(), depth() and warm_active() do not.
  static constexpr plan aborts_at_step(unsigned n, std::uint32_t status) { return {point::at_step, n, status}; }
  /// Starts, and aborts when it would commit.
  static constexpr plan aborts_at_end(std::uint32_t status) { return {point::at_end, 0, status}; }

  point where;
  unsigned step;
  std::uint32_t status;
};

/// How the begin instruction behaves on this CPU.
enum class begin_nature : std::uint8_t {
  illegal,        ///< unknown: begin() ends the program with a message, as the CPU would do with a signal
  always_aborts,  ///< returns status 0, whatever is planned
  commits         ///< does what is planned; a trial (machine::try_htm) commits
};

/// What has happened since the last reset.
struct counts {
  std::uint64_t begins = 0;  ///< outermost begins, without trials; of these:
  std::uint64_t commits = 0;
  std::uint64_t aborts = 0;
  std::uint64_t warm_begins = 0;  ///< not in begins; their aborts are not in aborts
  std::uint64_t elisions = 0;     ///< by HLE; likewise
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
  /// Resets the machine. The CPU then has no transactions (no RTM in CPUID, begin illegal), and the clock steps. There
  /// are two cores with two hardware threads each in one socket. The file system is empty, there are no environment
  /// variables, the seed is 1, and nothing fails. Requires: no other machine_script exists, and no thread is inside an
  /// attempt or asleep in park().
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
  /// claim_rtm() and begin_nature::commits: a CPU that works.
  void have_rtm();
  /// Sets what machine::claimed_htm() returns, instead of asking CPUID.
  void claim_is(machine::htm_claim claim);
  /// Sets what machine::htm() returns, instead of trying.
  void htm_is(const machine::htm_capability& capability);
  /// The extras that a trial finds if attempts work.
  void extras_are(bool hle, bool suspend, bool rollback_only);
  void nesting_is(unsigned deepest);  ///< 7 after a reset; one level more aborts with attempt_status::nested_bit
  void depth_is_told(bool exactly);   ///< if not, depth() is 1 at any depth, as on RTM
  void system_calls_abort_with(std::uint32_t status);  ///< 0 after a reset, as on RTM

  // --- attempts: each list is used up in the order of the begins of all threads, then the default holds ---
  void on_begin(plan next);
  void on_begin(std::initializer_list<plan> next);
  void on_begin_by_default(plan always);  ///< commits() after a reset
  /// Applies after the list and before the default: these plans, in this order, repeatedly. None after a reset.
  void on_begins_in_turn(std::vector<plan> again_and_again);
  /// From now on attempts run one at a time, and await_attempts() waits for the running one. Its stores are undone
  /// before a thread that waits there returns. A race detector does not see this. An abort then restores only the frame
  /// of the function that called begin(); so that function must also call end(). After a reset, attempts run
  /// concurrently with each other and with all other code. Always-abort attempts always do.
  void attempts_exclude_each_other();
  void on_warm_begin(plan next);    ///< for warm_begin(); the default starts and waits for an abort
  void on_hle(plan next);           ///< for hle_acquire(); the default does not elide
  std::size_t begins_left() const;  ///< plans of on_begin() that are not used yet

  // --- releases ---
  void interrupt_releases(unsigned next);  ///< this many calls of release_unless_waited() return false without a waiter

  // --- the clock, in nanoseconds; cycles() counts the same unless cycles_per_second() differs ---
  void clock_steps(std::uint64_t per_look, std::uint64_t per_relax);  ///< 1 and 10 after a reset
  void clock_by_hand(std::uint64_t now);                              ///< moves only by advance() and by sleeping
  void advance(std::uint64_t duration);
  std::uint64_t now() const;

  // --- parking: real unless told; with a deadline and a clock that steps, a millisecond asleep is one on the clock ---
  void on_park(machine::park_result next);  ///< the next park() returns this at once; timed_out moves the clock there
  void on_unpark(unsigned answer);          ///< the next unpark() wakes nobody and returns this
  unsigned parked() const;                  ///< threads that are asleep in park() now

  // --- the system: `nth` counts calls from now, 1 is the next ---
  void fail_thread_start(unsigned nth);
  void fail_map_pages(unsigned nth);
  void fail_protect_pages(unsigned nth);
  void fail_fault_handler(unsigned nth);
  void cpus_are(std::vector<machine::detail::cpu_place> places);
  void refuse_pin(bool refuse);
  /// Whether all threads have a real-time priority.
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

}  // namespace txsync::TXSYNC_INLINE_BACKEND::script
