// SPDX-License-Identifier: Apache-2.0
// Small programs of transactions whose every read is noted, for right algorithms and wrong ones.
#pragma once

#include "workloads/explored/tm_explored.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads::explored {

/// Program::run(places, thread) runs a thread's blocks.
template <class Program>
struct opacity_test {
  using place = typename Program::place;
  place places[Program::places];

  static void body(opacity_test& me, unsigned index) { Program::run(me.places, index); }
  const char* check() const {
    return check_notes(
        Program::places,
        [](const void* test, unsigned which) {
          return static_cast<std::uint32_t>(static_cast<const opacity_test*>(test)->places[which].value.load());
        },
        this);
  }
};

/// Each reads what the other one writes.
struct crossing {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
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

/// Either of two writes where both read: one of them has to be first.
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

/// One writes two places again and again, the other one reads them, and takes its time between.
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

/// One writes and throws, the other one reads.
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

/// Two write, one after the other, what a third reads: it never sees the second without the first.
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

/// Three in a ring: each reads its own place and writes the next one.
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

}  // namespace txsync::inline TXSYNC_BACKEND::workloads::explored
