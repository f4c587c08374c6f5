// SPDX-License-Identifier: Apache-2.0
// The seam: hardware attempts. Contracts here; each back end's <txsync_backend/attempt.hpp> holds the code.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <txsync/export.hpp>
#include <txsync/machine/abort_cause.hpp>
#include <txsync/machine/assert.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// The result of begin(): a 32-bit word with the layout of Intel's RTM status register (EAX after XBEGIN, Intel SDM
/// vol. 1, 16.3.5). The results of other machines are translated to it. RTM reserves bits 6..23. Machines that report
/// more than RTM (POWER, s390, the simulated ones) use some of these.
struct attempt_status {
  static constexpr std::uint32_t started_value = ~std::uint32_t{0};
  static constexpr std::uint32_t explicit_bit = 1u << 0;
  static constexpr std::uint32_t retry_bit = 1u << 1;
  static constexpr std::uint32_t conflict_bit = 1u << 2;
  static constexpr std::uint32_t capacity_bit = 1u << 3;
  static constexpr std::uint32_t debug_bit = 1u << 4;
  static constexpr std::uint32_t nested_bit = 1u << 5;
  static constexpr std::uint32_t capacity_read_bit = 1u << 8;
  static constexpr std::uint32_t capacity_write_bit = 1u << 9;
  static constexpr std::uint32_t interrupt_bit = 1u << 10;
  static constexpr std::uint32_t syscall_bit = 1u << 11;
  static constexpr std::uint32_t fault_bit = 1u << 12;
  static constexpr std::uint32_t unfriendly_bit = 1u << 13;
  static constexpr std::uint32_t spurious_bit = 1u << 14;
  /// Codes for abort<Code>() that txsync itself uses; 0..0xCF are free for users (Linux on POWER uses 0xD0..0xE3).
  static constexpr std::uint8_t code_lock_busy = 0xFF;
  static constexpr std::uint8_t code_fall_back = 0xFE;
  static constexpr std::uint8_t code_alone = 0xFC;  ///< the block can only run without any other
  static constexpr std::uint8_t code_owned = 0xFD;  ///< a software transaction owns what the attempt needs

  std::uint32_t raw = 0;

  constexpr bool started() const noexcept { return raw == started_value; }
  constexpr bool may_retry() const noexcept { return !started() && (raw & retry_bit) != 0; }
  constexpr bool is_explicit() const noexcept { return !started() && (raw & explicit_bit) != 0; }
  /// The argument of abort<Code>(); meaningful only if is_explicit().
  constexpr std::uint8_t code() const noexcept { return static_cast<std::uint8_t>(raw >> 24); }

  /// The first cause. Requires: !started().
  constexpr abort_cause cause() const noexcept {
    TXSYNC_ASSERT_VALUE(!started(), "an attempt that runs has no cause of an abort");
    if ((raw & explicit_bit) != 0) return explicit_cause();
    for (const auto& [bit, meaning] : causes_by_bit) {
      if ((raw & bit) != 0) return meaning;
    }
    return abort_cause::unknown;
  }

  /// Whether the machine signalled this cause, perhaps among others. Requires: !started().
  constexpr bool signals(abort_cause cause) const noexcept {
    TXSYNC_ASSERT_VALUE(!started(), "an attempt that runs signals no cause");
    if (cause == abort_cause::unknown) return this->cause() == abort_cause::unknown;
    if ((raw & explicit_bit) != 0 && cause == explicit_cause()) return true;
    for (const auto& [bit, meaning] : causes_by_bit) {
      if (meaning == cause) return (raw & bit) != 0;
    }
    return false;
  }

 private:
  struct bit_and_cause {
    std::uint32_t bit;
    abort_cause cause;
  };
  // In the order of abort_cause, except for `capacity`: a machine that reports which set did not fit sets capacity_bit
  // as well.
  static constexpr bit_and_cause causes_by_bit[] = {
      {conflict_bit, abort_cause::conflict},
      {capacity_read_bit, abort_cause::capacity_read},
      {capacity_write_bit, abort_cause::capacity_write},
      {capacity_bit, abort_cause::capacity},
      {nested_bit, abort_cause::nested},
      {debug_bit, abort_cause::debug},
      {interrupt_bit, abort_cause::interrupt},
      {syscall_bit, abort_cause::syscall},
      {fault_bit, abort_cause::fault},
      {unfriendly_bit, abort_cause::unfriendly_instruction},
      {spurious_bit, abort_cause::spurious},
  };

  constexpr abort_cause explicit_cause() const noexcept {
    if (code() == code_lock_busy) return abort_cause::lock_busy;
    return code() == code_owned ? abort_cause::locked : abort_cause::explicit_abort;
  }
};

/// What the machine can do, measured once by trying it (see try_htm() in txsync/machine/capability.hpp).
struct htm_capability {
  bool attempts = false;       ///< begin/end/abort work: a one-store attempt has committed
  bool hle = false;            ///< the hardware honours XACQUIRE/XRELEASE: XTEST has been true in an elided section
  bool suspend = false;        ///< suspend() and resume() work (POWER8)
  bool rollback_only = false;  ///< begin_rollback_only() works (POWER8)
  bool always_abort = false;   ///< warm_begin() can run a body at all
  unsigned max_depth = 0;      ///< deepest flat nesting that commits; 0 without attempts
};

/// The capability of this machine. The first call tries it (some microseconds); later calls read the result.
/// Thread-safe. All members are false if the environment says TXSYNC_HTM=off (the kill switch).
TXSYNC_EXPORT const htm_capability& htm() noexcept;

/// htm().attempts for the fast path of locks: one load, once any thread has called htm().
[[gnu::always_inline]] inline bool attempts_work() noexcept;

/// True: attempts do not work, neither now nor later. False: they work, or it is not known yet. It is for code that is
/// inlined into programs and asks both before and after a critical section. There a load between two atomic instructions
/// takes 2 ns (Emerald Rapids).
/// Cost: natively the read of a constant, which the compiler may do once for many sections. The machine is tried when
/// the shared library is loaded, or a program with elided locks that links the static one. That takes 20..60 us, and
/// reads TXSYNC_HTM.
[[gnu::always_inline]] inline bool attempts_never_work() noexcept;

/// Starts an attempt, or one more level of flat nesting. In the attempt, the result is started(). After an abort, the
/// thread continues from here a second time, with all its stores undone, and the result says why.
/// Nesting is flat: an abort of an inner level returns to the outermost begin().
/// Requires: htm().attempts; elsewhere the instruction may be illegal. (Back ends without attempts return status 0.)
/// Cost: RTM's begin and end take 36..96 cycles together (docs/costs.md). An abort takes 120..250 cycles, and what the
/// caches have lost has to be fetched again.
[[gnu::always_inline]] inline attempt_status begin() noexcept;

/// Commits the innermost level. At depth one, all stores become visible at once. Requires: active(); otherwise a signal
/// ends the program.
[[gnu::always_inline]] inline void end() noexcept;

/// Aborts the whole attempt: the result of begin() is_explicit(), with Code. Outside an attempt: no effect.
template <std::uint8_t Code>
[[gnu::always_inline]] inline void abort() noexcept;

/// abort<attempt_status::code_lock_busy>(), for a caller that knows which lock was found held. A machine that reports
/// where attempts ended (the simulated one) names that lock.
[[gnu::always_inline]] inline void abort_busy(const void* lock) noexcept;

/// place.store(value, std::memory_order_release). If it runs in an attempt, an abort undoes it on every back end. (Of
/// other stores, the scripted machine undoes only those to the thread's stack.)
/// The release pairs with the acquire of a thread that reads during the attempt, and then finds that its read is
/// invalid.
[[gnu::always_inline]] inline void store_in_attempt(std::atomic<std::uint64_t>& place, std::uint64_t value) noexcept;

/// For a thread that has just taken a lock that attempts check when they begin: waits until all attempts that began
/// before have ended. No effect on machines where the store that takes the lock aborts them.
[[gnu::always_inline]] inline void await_attempts() noexcept;

/// Tell a race detector how this thread's accesses are ordered. annotate_acquire(): what follows comes after earlier
/// critical sections of `lock`. annotate_release(): what went before comes before later ones. An attempt that elides
/// the lock leaves no trace of that order in the lock. No effect in other builds.
[[gnu::always_inline]] inline void annotate_acquire(const void* lock) noexcept;
[[gnu::always_inline]] inline void annotate_release(const void* lock) noexcept;

/// For functions in src/. A program may use a race detector that the library was compiled without, and which therefore
/// does not see the accesses of these functions. Call annotate_unseen_acquire() after the access that acquires by that
/// word, and annotate_unseen_release() before the access that releases. The program's own accesses to the word, in
/// inlined functions, pair with them.
/// No effect if the library is compiled with the detector: the detector then has to report a missing order. Cost in
/// other programs: a load, on slow paths.
[[gnu::always_inline]] inline void annotate_unseen_acquire(const void* word) noexcept;
[[gnu::always_inline]] inline void annotate_unseen_release(const void* word) noexcept;
/// annotate_unseen_acquire(word) if `got`. Returns `got`.
inline bool annotate_unseen_acquire_if(bool got, const void* word) noexcept {
  if (got) annotate_unseen_acquire(word);
  return got;
}

/// True inside an attempt, also inside one that HLE began (XTEST). Returns false on CPUs without such an instruction.
/// Call htm() once before the first attempt: the first call of active() executes CPUID, which would abort an attempt.
[[gnu::always_inline]] inline bool active() noexcept;

/// The depth of nesting, 0 outside an attempt. Machines that do not report it (RTM) return 1 for any depth inside.
[[gnu::always_inline]] inline unsigned depth() noexcept;

/// A word that the HLE hints can exchange: 1, 2, 4 or 8 bytes.
template <class Word>
concept hle_word = std::unsigned_integral<Word> && !std::same_as<Word, bool> && sizeof(Word) <= 8;

/// exchange(value) with the HLE hint XACQUIRE. If the hardware elides, the store stays speculative. Otherwise it is a
/// plain acquire exchange. Pairs with hle_release() on the same word, with the value that the word had before.
template <hle_word Word>
[[gnu::always_inline]] inline Word hle_acquire(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept;
template <hle_word Word>
[[gnu::always_inline]] inline void hle_release(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept;

/// Starts an always-abort attempt (always-abort paper, II-B): its stores never become visible. Inside, the result is
/// started(); once the attempt has aborted, the result says why. On RTM it opens extra levels of nesting, so that a
/// stray end() cannot commit it. Requires: htm().always_abort; the thread is in no attempt.
[[gnu::always_inline]] inline attempt_status warm_begin() noexcept;
/// True inside an always-abort attempt (AAHTM_TEST).
[[gnu::always_inline]] inline bool warm_active() noexcept;

/// Leave and re-enter speculation without ending the attempt (POWER8). Stores between the two calls stay, whatever
/// happens to the attempt. active() and depth() do not change. Require: htm().suspend; otherwise they have no effect.
inline void suspend() noexcept;
inline void resume() noexcept;
/// Starts an attempt that buffers stores and does not track reads (POWER8). Requires: htm().rollback_only; otherwise
/// the result is status 0.
[[gnu::always_inline]] inline attempt_status begin_rollback_only() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/attempt.hpp>
