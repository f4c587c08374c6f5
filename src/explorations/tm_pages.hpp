// SPDX-License-Identifier: Apache-2.0
// Programs of transactions whose places lie on two pages of the heap that dmp divides.
#pragma once

#include "explorations/tm_opacity.hpp"
#include "tm/partition/scout.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored {

/// Null, or that the machine's rights of a page are not those that are noted of it. To be called when no thread
/// runs blocks.
const char* fault_of_rights() noexcept;

/// The same as run_by(), with another handler of refused accesses.
template <class Test, unsigned threads, const tm::detail::algorithm& how, machine::fault_handler handler>
const char* run_served_by() {
  begin_anew(how);
  static_cast<void>(machine::set_fault_handler(handler, nullptr));
  const char* const fault = run_anew<Test, threads>();
  static_cast<void>(machine::set_fault_handler(tm::detail::serve<tm::detail::request>, nullptr));
  end_schedule();
  return fault;
}

/// As a machine that says nothing of an attempt's refused access: the thread only knows that there was one.
inline machine::fault_answer tell_nothing(void* address, bool, void*) noexcept {
  tm::detail::runner* const me = tm::detail::runner::mine_if_any();
  if (!tm::detail::heap_pages.has_second(address) || me == nullptr) return machine::fault_answer::not_mine;
  me->wants_scout = me->is_marked = true;
  return machine::fault_answer::retry;
}

/// As opacity_test. The first `before` places end the first page, and the others begin the second one.
template <class Program, unsigned before>
struct opacity_in_pages {
  using place = typename Program::place;
  place* const places;

  opacity_in_pages() noexcept : places(first_place()) {
    for (unsigned i = 0; i < Program::places; ++i) new (&places[i]) place{};
  }
  static place* first_place() noexcept {
    const tm::detail::partitioned_heap& heap = tm::detail::heap_pages;
    return reinterpret_cast<place*>(heap.views.begin + heap.page_bytes()) - before;
  }
  static void body(opacity_in_pages& me, unsigned index) { Program::run(me.places, index); }
  const char* check() const {
    if (const char* const wrong = fault_of_rights()) return wrong;
    return check_places(*this, Program::places);
  }
};

/// Time for others to act, where a step of dmp could be preempted.
inline void linger(unsigned times = 1) noexcept {
  for (unsigned i = 0; i < 40 * times; ++i) machine::relax();
}

/// One thread writes the first page. Another one writes the second page according to what it reads on the first. The
/// third thread reads both.
struct carrying_over {
  using place = apart;
  static constexpr unsigned places = 3;
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
      if (thread == 0) {
        transact(blocks::reading, all, thread, [](auto& on) {
          on.read(0);
          linger(4);
          on.read(2);
          on.read(1);
        });
      } else if (thread == 1) {
        transact(blocks::writing, all, thread, [](auto& on) {
          on.write(0);
          on.write(1);
        });
      } else {
        transact(blocks::carrying, all, thread, [](auto& on) {
          on.read(0);
          on.write(2);
        });
      }
    }
  }
};

/// One thread reads the first page and writes the second, another one writes the first, and the third reads both.
struct chasing {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    if (thread != 0) linger(thread * 3);
    transact(thread == 2 ? blocks::reading : blocks::writing, all, thread, [&](auto& on) {
      if (thread != 1) on.read(0);
      if (thread == 2) return static_cast<void>(on.read(1));
      on.write(thread == 0 ? 1 : 0);
    });
  }
};

/// One thread reads the first page and then the second; two write both.
struct outpacing {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    transact(thread == 0 ? blocks::reading : blocks::writing, all, thread, [&](auto& on) {
      if (thread == 0) {
        on.read(0);
        linger();
        on.read(1);
      } else {
        on.write(0);
        on.write(1);
      }
    });
  }
};

/// One thread reads a word and writes two, another one writes the first, and the third reads both; all on one page.
struct updating {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    transact(thread == 2 ? blocks::reading : blocks::writing, all, thread, [&](auto& on) {
      if (thread != 1) on.read(0);
      if (thread == 2) return static_cast<void>(on.read(1));
      on.write(0);
      linger();
      if (thread == 0) on.write(1);
    });
  }
};

/// Each of two threads reads one page and writes the other; the third one reads both.
struct exchanging {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
      transact(thread == 2 ? blocks::reading : blocks::writing, all, thread, [&](auto& on) {
        on.read(thread == 2 ? 0 : thread);
        if (thread == 2) return static_cast<void>(on.read(1));
        on.write(1 - thread);
      });
    }
  }
};

/// One thread writes many places, and the others read the first and the last one.
struct widening {
  using place = apart;
  static constexpr unsigned places = 8;
  static void run(place* all, unsigned thread) {
    transact(thread == 0 ? blocks::writing : blocks::reading, all, thread, [&](auto& on) {
      if (thread == 0) {
        for (unsigned i = 0; i < places; ++i) on.write(i);
      } else {
        on.read(0);
        on.read(places - 1);
      }
    });
  }
};

/// One thread throws after it has written both pages; two others use them.
struct undoing {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
      try {
        transact(thread == 1 ? blocks::reading : blocks::writing, all, thread, [&](auto& on) {
          on.read(0);
          if (thread != 1) on.write(1);
          on.read(1);
          if (thread == 0) throw throwing::enough{};
        });
      } catch (const throwing::enough&) {
        note(event::kind::gives_up, thread);
      }
    }
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored
