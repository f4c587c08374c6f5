// SPDX-License-Identifier: Apache-2.0
// What software transactions tell hardware attempts: each thread that may run one is counted.
#include "explorations/tm_explored.hpp"
#include "tm/hybrid/announcements.hpp"
#include "tm/quiescence_gate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using namespace explored;

/// At the end each announcement is counted. One may be left of a thread that has ended: another thread put it back.
struct counted {
  const char* check() const {
    std::uint64_t announced = 0;
    for (const tm::detail::runner* one = tm::detail::runner::first(); one != nullptr; one = one->next()) {
      if (one->is_announced.load()) ++announced;
    }
    if (tm::detail::shared.announced.load() != announced) return "the count of announcements is wrong";
    return check_notes(0, nullptr, nullptr);
  }
  static void announce_once(tm::detail::runner& me) {
    tm::detail::enter(me);
    tm::detail::announce(me);
    if (!me.is_announced.load()) note_wrong();
    tm::detail::leave(me);
  }
};

/// Each thread announces transactions, and withdraws its announcements and those of threads that seem idle.
struct announcing_test : counted {
  static void body(announcing_test&, unsigned) {
    tm::detail::runner& me = tm::detail::runner::mine();
    for (unsigned i = 0; i < 2; ++i) {
      announce_once(me);
      tm::detail::withdraw_in_time(me);
    }
  }
};

/// Thread 0 announces while thread 1 looks for idle threads, and thread 2 announces and withdraws.
struct looking_test : counted {
  static void body(looking_test&, unsigned index) {
    tm::detail::runner& me = tm::detail::runner::mine();
    for (unsigned i = 0; i < 2; ++i) {
      index == 1 ? tm::detail::withdraw_in_time(me) : announce_once(me);
      if (index == 2) tm::detail::withdraw(me);
    }
  }
};

/// Each thread commits in software.
struct committing_test {
  static void body(committing_test&, unsigned) {
    tm::detail::runner& me = tm::detail::runner::mine();
    tm::detail::raise_commits(me);
    if (tm::detail::shared.committing.load() == 0) note_wrong();
    tm::detail::lower_commits(me);
    tm::detail::lower_commits(me);  // no effect
  }
  const char* check() const {
    if (tm::detail::shared.committing.load() != 0) return "the count of commits is wrong";
    return check_notes(0, nullptr, nullptr);
  }
};

constexpr exploration table[] = {
    explored_by<announcing_test, 2, tm::detail::hydctl>("tm-announcing", "two announce and withdraw"),
    explored_by<looking_test, 3, tm::detail::hydctl>("tm-announcing-looked-at", "one looks for idle threads"),
    explored_by<committing_test, 2, tm::detail::hynorec>("tm-committing", "two raise the count of commits"),
};

}  // namespace

std::span<const exploration> tm_announcing_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
