// SPDX-License-Identifier: Apache-2.0
// Small programs of transactions in which every read is noted, for correct algorithms and wrong ones.
#pragma once

#include "explorations/tm_explored.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored {

/// Program::run(places, thread) runs a thread's blocks.
template <class Program>
struct opacity_test {
  using place = typename Program::place;
  place places[Program::places];

  static void body(opacity_test& me, unsigned index) { Program::run(me.places, index); }
  const char* check() const { return check_places(*this, Program::places); }
};

/// Each thread reads what the other one writes.
template <unsigned turns>
struct crossing_in_turns {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < turns; ++i) {
      transact(blocks::writing, all, thread, [&](auto& on) {
        on.read(thread);
        on.write(1 - thread);
        on.read(1 - thread);
        on.write(thread);
      });
      transact(blocks::reading, all, thread, [](auto& on) {
        on.read(0);
        on.read(1);
      });
    }
  }
};
using crossing = crossing_in_turns<2>;

/// Two threads write one place each and read both, so one of them has to be first.
struct skewing {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    transact(blocks::writing, all, thread, [&](auto& on) {
      on.read(0);
      on.read(1);
      if (thread < 2) on.write(thread);
    });
  }
};

/// One thread writes two places repeatedly. The other one reads them, with a pause in between.
struct overtaking {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 3; ++i) {
      transact(thread == 0 ? blocks::writing : blocks::reading, all, thread, [&](auto& on) {
        if (thread == 0) {
          on.write(0);
          on.write(1);
        } else {
          on.read(0);
          for (unsigned pause = 0; pause < 60; ++pause) machine::relax();
          on.read(1);
        }
      });
    }
  }
};

/// One thread writes and throws; the other one reads.
struct throwing {
  using place = apart;
  static constexpr unsigned places = 1;
  struct enough {};
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
      if (thread == 1) {
        transact(blocks::reading, all, thread, [](auto& on) {
          for (unsigned turn = 0; turn < 4; ++turn) on.read(0);
        });
        continue;
      }
      try {
        transact(blocks::writing, all, thread, [](auto& on) {
          on.write(0);
          throw enough{};
        });
      } catch (const enough&) {
        note(event::kind::gives_up, thread);
      }
    }
  }
};

/// Two threads write, one after the other, what a third one reads. It must never see the second write without the
/// first.
template <class Place>
struct following {
  using place = Place;
  static constexpr unsigned places = 4;
  static void run(place* all, unsigned thread) {
    if (thread == 2) {
      for (unsigned i = 0; i < 2; ++i) {
        transact(blocks::reading, all, thread, [](auto& on) {
          on.read(3);
          on.read(1);
          on.read(0);
          on.read(2);
        });
      }
      return;
    }
    transact(blocks::writing, all, thread, [&](auto& on) {
      on.write(thread);
      on.write(2 + thread);
      on.write(thread);
    });
    transact(blocks::writing, all, thread, [&](auto& on) {
      on.read(1 - thread);
      on.write(2 + thread);
    });
  }
};

/// Three threads in a ring: each reads its own place and writes the next one's.
struct ring {
  using place = apart;
  static constexpr unsigned places = 3;
  static void run(place* all, unsigned thread) {
    transact(blocks::writing, all, thread, [&](auto& on) {
      on.read(thread);
      on.write((thread + 1) % places);
    });
    transact(blocks::writing, all, thread, [&](auto& on) {
      on.read((thread + 1) % places);
      on.read((thread + 2) % places);
      on.write(thread);
    });
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored
