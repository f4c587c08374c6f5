// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND {

namespace detail {
class sleeping_place;
/// For explorations, before their threads start: admission::patience is `acquisitions` for all locks; 0: as usual.
TXSYNC_EXPORT void lower_patience(std::uint32_t acquisitions) noexcept;
}  // namespace detail

/// The door of a fair lock: lets in as many waiters as there are CPUs to run them and makes the others sleep outside,
/// oldest called first. A fair spin lock needs its next owner to be running; with more threads than CPUs it waits for
/// the scheduler at every hand-over without this. (Generic concurrency restriction: Dice and Kogan, EuroSys 2019; the
/// passive set of Dice's Malthusian locks, EuroSys 2017.)
///
/// A thread outside is called in after `patience` acquisitions or after a millisecond, or earlier when one from outside
/// finds that the lock stays free. If no thread waits inside, the release of a called thread wakes the next one. That
/// one comes in if the lock stays free for some microseconds. So a line of sleepers drains at about the speed of their
/// wake-ups. If a called thread has not come in within `patience` further acquisitions the door is shut to all
/// newcomers until it has. So with T threads a thread is passed by at most bypass_bound(T) times.
///
/// Used by the lock it belongs to; all but stands_open(), crowded() and wait_outside() only by the lock's holder. 16
/// bytes.
class admission {
 public:
  static constexpr std::uint32_t patience = 16'384;

  static constexpr std::uint64_t bypass_bound(std::uint64_t threads) noexcept {
    return threads * (std::uint64_t{2} * patience + threads);
  }

  constexpr admission() noexcept = default;

  /// True when a newcomer to so many threads inside, the holder among them, need not ask: on any machine it is not
  /// crowded(). Without a call, for the way that is taken when nobody waits.
  [[gnu::always_inline]] bool stands_open(std::uint32_t inside) const noexcept {
    if (inside >= always_inside) [[unlikely]]
      return false;
    // relaxed: as in crowded()
    if (is_shut()) [[unlikely]]
      return false;
    return called_.load(std::memory_order_relaxed) == called::nobody;
  }
  /// True when it has to stay outside. `works`: it warms up, so that two inside do more than one after the other.
  bool crowded(std::uint32_t inside, bool works) const noexcept {
    // relaxed: a wrong answer costs time only; a thread that stays outside looks again, in order
    return (is_shut() || inside >= limit(works)) && !is_parents();
  }

  /// Somebody is outside or on the way in: the holder has to give the lock up within a hand_over.
  [[gnu::always_inline]] bool busy() const noexcept {
    // relaxed: see admission.cpp on who sees whose number
    if (outside_called_.load(std::memory_order_relaxed) != outside_.load(std::memory_order_relaxed)) [[unlikely]]
      return true;
    return called_.load(std::memory_order_relaxed) != called::nobody;
  }

  /// Sleeps until called. `still_crowded(context)` looks at the lock again, after this thread can be seen to be
  /// outside; when it says no, `kick(context)` has to acquire and release the lock past the door, which calls somebody
  /// in.
  struct lock_view {
    bool (*still_crowded)(void* context);
    void (*kick)(void* context);
    bool (*is_held)(void* context);
    void* context;
  };
  TXSYNC_EXPORT void wait_outside(const lock_view& lock) noexcept;

  /// By the holder that was called in, once it has the lock.
  TXSYNC_EXPORT void came_in() noexcept;

  enum class others : std::uint8_t {
    some,     ///< another waiter is inside
    nobody,   ///< none at this moment
    visitor,  ///< none, and the holder is from outside, and has found the lock free
  };
  /// The holder makes one before it gives the lock up, if busy(), and ends it afterwards. It calls a thread in; its end
  /// wakes that thread: the kernel may run the woken thread in place of the waker.
  class hand_over {
   public:
    hand_over(admission& door, others inside) noexcept : called_(door.release_passed(inside)) {}
    ~hand_over() { wake(called_); }
    hand_over(const hand_over&) = delete;
    hand_over& operator=(const hand_over&) = delete;

   private:
    detail::sleeping_place* const called_;
  };

 private:
  bool is_shut() const noexcept { return (shut_.load(std::memory_order_relaxed) & shut) != 0; }  // relaxed: a hint
  /// Whether those outside and on the way in may be threads of the parent, in the child of a fork: nobody may wait for
  /// them. The first release there calls in all.
  TXSYNC_EXPORT bool is_parents() const noexcept;
  /// What `shut_` holds above its flag in this process.
  static std::uint8_t mark_here() noexcept;
  bool is_of_this_process() const noexcept;
  void become_this_process() noexcept;
  detail::sleeping_place* call_all() noexcept;
  /// The place where a thread sleeps that is called in now, or null.
  [[nodiscard]] TXSYNC_EXPORT detail::sleeping_place* release_passed(others inside) noexcept;
  TXSYNC_EXPORT static void wake(detail::sleeping_place* called) noexcept;
  /// A thread that was called in: it wakes up, and then stands in the queue until it has the lock.
  enum class called : std::uint8_t { nobody, comes, queues };
  TXSYNC_EXPORT std::uint32_t limit(bool works) const noexcept;
  static bool stays_free(const lock_view& lock) noexcept;
  static constexpr std::uint32_t always_inside = 2;  ///< have room, if nobody is on the way in
  static constexpr std::uint8_t shut = 1;

  std::atomic<std::uint32_t> outside_{0};         // numbers given to threads outside
  std::atomic<std::uint32_t> outside_called_{0};  // numbers called; written by the holder
  // Above the flag `shut` whose it is. Written by the holder, and by a thread that goes outside where nobody is.
  std::atomic<std::uint8_t> shut_{0};
  std::atomic<called> called_{called::nobody};  // nobody and comes are set by the holder
  std::uint16_t passed_ = 0;                    // acquisitions since then, or since the last call; the holder's
  std::uint32_t last_call_ = 0;                 // in units of 1024 cycles; the holder's
};
static_assert(sizeof(admission) == 16);
static_assert(admission::patience < 0xFFFF);

}  // namespace txsync::inline TXSYNC_BACKEND
