// SPDX-License-Identifier: Apache-2.0
// Waits and notifications in elided critical sections (leveldb paper, 4.1), and actions after their commit.
#include <atomic>
#include <new>

#include <txsync/locks/tatas.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/speculate/elided_condition_variable.hpp>

#include "explorations/condition_waits.hpp"
#include "explorations/exploration.hpp"
#include "explorations/own_site.hpp"
#include "policy/packed.hpp"
#include "speculate/thread_memory.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

/// A guard's section in which a thread can wait.
template <class Lock>
class guarded : elided_guard<Lock> {
 public:
  explicit guarded(Lock& lock) noexcept : elided_guard<Lock>(lock), lock_(lock) {}
  void lock() noexcept { lock_.lock(); }
  void unlock() noexcept { lock_.unlock(); }

 private:
  Lock& lock_;
};

/// The hand-over, with some sections in attempts.
template <class Lock, unsigned threads, unsigned takes, telling how, class Held = std::unique_lock<Lock>>
struct elided_handing_test : handing_test<Lock, elided_condition_variable, threads, takes, how, Held> {
  static void body(elided_handing_test& me, unsigned index) {
    elided_handing_test::handing_test::body(me, index);
    commit_coarsened();
  }
};

/// Each thread takes all its turns within one scope: a waiter has notified the other thread in the same scope.
template <class Lock, unsigned turns>
struct taking_turns_test {
  Lock lock{};
  elided_condition_variable changed{};
  unsigned turn = 0;
  unsigned taken = 0;

  static void body(taking_turns_test& me, unsigned index) {
    const elided_guard guard(me.lock);
    for (unsigned i = 0; i < turns; ++i) {
      me.changed.wait(me.lock, [&me, index] { return me.turn == index; });
      me.turn = 1 - index;
      ++me.taken;
      me.changed.notify_one();
    }
  }
  const char* check() const { return taken != 2 * turns ? "a turn was lost" : nullptr; }
};

/// A waiter with its own variable, which is destroyed as soon as it has seen what it waited for (leveldb's writers).
template <class Lock>
struct own_variable_test {
  static constexpr unsigned char gone = 0xA5;

  Lock lock{};
  bool done = false;
  elided_condition_variable* waiting = nullptr;
  alignas(64) unsigned char place[sizeof(elided_condition_variable)] = {};
  bool touched = false;

  void wait_for_it() noexcept {
    auto* const own = new (place) elided_condition_variable();
    lock.lock();
    waiting = own;
    while (!done) own->wait(lock);
    waiting = nullptr;
    lock.unlock();
    own->~elided_condition_variable();
    for (unsigned char& one : place) one = gone;
  }
  void notify() noexcept {
    lock.lock();
    done = true;
    if (waiting != nullptr) waiting->notify_one();
    lock.unlock();
  }
  static void body(own_variable_test& me, unsigned index) { index == 0 ? me.wait_for_it() : me.notify(); }
  const char* check() const {
    for (const unsigned char one : place) {
      if (one != gone) return "a notification has touched a variable that was gone";
    }
    return nullptr;
  }
};

/// Each thread notes in an action what it has done, and there reads that its sections have committed.
template <class Lock>
struct actions_test {
  Lock lock{};
  std::uint64_t value = 0;
  std::atomic<std::uint64_t> told{0};
  std::atomic<bool> early{false};

  static void body(actions_test& me, unsigned) {
    for (unsigned i = 0; i < 2; ++i) {
      const elided_guard guard(me.lock);
      ++me.value;
      on_commit([self = &me]() noexcept {
        if (machine::active()) self->early.store(true);
        self->told.fetch_add(1);
      });
    }
  }
  const char* check() const {
    if (early.load()) return "an action ran in an attempt";
    return value != 4 || told.load() != 4 ? "an action was lost, or ran twice" : nullptr;
  }
};

/// Each thread takes memory for its attempts, perhaps that of a thread that has ended. No two have the same at a time.
struct memory_test {
  static constexpr unsigned threads = 3;
  std::atomic<detail::thread_memory*> of[threads] = {};  ///< null: the thread has none, or is about to end
  std::atomic<bool> shared{false};

  static void body(memory_test& me, unsigned index) {
    me.of[index].store(detail::my_memory());
    const detail::thread_memory* const mine = me.of[index].load();
    for (unsigned other = 0; other < threads; ++other) {
      if (mine != nullptr && other != index && me.of[other].load() == mine) me.shared.store(true);
    }
    me.of[index].store(nullptr);
  }
  const char* check() const { return shared.load() ? "two threads have the same memory" : nullptr; }
};

/// A site whose sections ask for their policy for the first time while another thread changes it.
struct changing_policy_test {
  static constexpr std::uint32_t off = policy::packed{.counting = false, .elision = policy::elision_kind::off}.word();
  site_with_policy place{"", elision_presets::eager, site::counting::off};
  elided<tatas_lock> lock{place};
  std::uint64_t sections = 0;

  ~changing_policy_test() {
    detail::site_state& state = detail::site_state::of(place);
    if (state.get_site() != nullptr) machine::unmap_pages(&state, sizeof(detail::site_page));
  }
  static void body(changing_policy_test& me, unsigned index) {
    if (index == 0) return me.place.set_policy(off);
    for (unsigned i = 0; i < 2; ++i) {
      me.lock.lock();
      ++me.sections;
      me.lock.unlock();
    }
  }
  const char* check() {
    if (sections != 4) return "an update was lost";
    const detail::site_state& state = detail::decide_state(place, detail::speculation::elision);
    if (state.elision() != &elision_policy_of(place)) return "the site has another policy than its word says";
    return state.takes_lock() ? nullptr : "sections are elided, and the word says off";
  }
};

using eager = with_own_site<elided<tatas_lock>>;
using patient = with_own_site<elided<tatas_lock>, elision_presets::standard>;
using coarsened = with_own_site<elided<tatas_lock>, coarse>;

template <class Test, unsigned threads>
constexpr exploration test_of(const char* name, const char* summary) {
  return {name, summary, verdict::right, run_anew<Test, threads>};
}

constexpr exploration table[] = {
    test_of<elided_handing_test<eager, 2, 2, telling::one>, 2>("elided_condition-one",
                                                               "elided hand-over, 2 threads x 2"),
    test_of<elided_handing_test<eager, 3, 1, telling::all>, 3>("elided_condition-all", "elided hand-over, 3 threads"),
    test_of<elided_handing_test<patient, 2, 1, telling::one, guarded<patient>>, 2>("elided_condition-guarded",
                                                                                   "the same, by guards"),
    test_of<elided_handing_test<coarsened, 2, 2, telling::one>, 2>("elided_condition-coarse", "the same, coarsened"),
    {"elided_condition-turns", "notify and wait in one scope, 2 threads x 2, waiters sleep at once", verdict::right,
     run_anew<taking_turns_test<eager, 2>, 2>, 1},
    test_of<nested_wait_test<eager, elided_condition_variable>, 3>("elided_condition-nested",
                                                                   "a wait within sections of two locks"),
    test_of<own_variable_test<eager>, 2>("elided_condition-own", "a waiter's own variable is gone after the wait"),
    test_of<changing_policy_test, 3>("elided_tatas-policy",
                                     "a site's policy is set while it is asked for the first time"),
    test_of<actions_test<eager>, 2>("elided_actions", "actions run once, after the commit"),
    test_of<memory_test, memory_test::threads>("elided_memory", "memory of threads, which come and end"),
};

}  // namespace

std::span<const exploration> eliding_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
