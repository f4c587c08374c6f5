// SPDX-License-Identifier: Apache-2.0
// Atomic blocks: whether what they see is opaque, by every algorithm, beside serial blocks, and while the algorithm
// changes.
#include <string_view>

#include "explorations/tm_opacity.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using namespace explored;
using tm::detail::algorithm;

/// Irrevocable blocks, serial blocks, and others.
template <bool from_start>
struct mixing {
  using place = apart;
  static constexpr unsigned places = 2;
  static tm::block& block_of(unsigned thread) {
    if (thread == 0) return from_start ? blocks::at_once : blocks::alone;
    return thread == 1 && from_start ? blocks::irrevocable : blocks::writing;
  }
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
      transact(block_of(thread), all, thread, [&](auto& on) {
        on.read(0);
        on.write(1);
        on.read(1);
        on.write(0);
      });
    }
  }
};

/// A block that becomes irrevocable in the middle.
struct turning {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    transact(blocks::writing, all, thread, [&](auto& on) {
      on.read(0);
      on.write(1);
      if (thread == 0) on.plain().irrevocable();
      on.read(1);
      on.write(0);
    });
    transact(blocks::reading, all, thread, [&](auto& on) {
      on.read(0);
      on.read(1);
    });
  }
};

/// A body that throws after it has written, and others that write the same places.
struct giving_up {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    if (thread == 0) throwing::run(all, thread);
    for (unsigned i = 0; i < 2; ++i) {
      transact(blocks::writing, all, thread, [&](auto& on) {
        on.read(1);
        on.write(0);
        on.read(0);
        if (thread != 1) on.write(1);
      });
    }
  }
};

/// One of the threads changes the algorithm, runs a block with it, and changes it back. From htm_sgl it changes to an
/// algorithm that htm_sgl's attempts do not watch.
struct changing {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    if (thread == 2) {
      const char* const before = tm::algorithm_in_use();
      const bool by_global_lock = before == tm::detail::sgl.name || before == tm::detail::htm_sgl.name ||
                                  before == tm::detail::htm_sgl_adaptive.name;
      const std::string_view another = by_global_lock ? "dctl" : "sgl";
      if (!tm::use_algorithm(another) || tm::algorithm_in_use() != another) note_wrong();
      transact(blocks::writing, all, thread, [](auto& on) {
        on.read(0);
        on.write(0);
        on.write(1);
      });
      static_cast<void>(tm::use_algorithm(before));
      return;
    }
    for (unsigned i = 0; i < 2; ++i) {
      transact(blocks::writing, all, thread, [&](auto& on) {
        on.read(thread);
        on.write(1 - thread);
        on.write(thread);
      });
    }
  }
};

/// What an alternative did before retry() is undone, even where the block itself had written before. Exactly one of the
/// two alternatives takes effect.
struct alternatives {
  using place = apart;
  static constexpr unsigned places = 3;
  static void run(place* all, unsigned thread) {
    transact(blocks::writing, all, thread, [&](auto& on) {
      unsigned done = 0;
      on.read(thread);
      on.write(1 - thread);
      on.plain().or_else(
          [&](auto& tx) {
            if (tx.read(all[2].value) == 0) {
              tx.write(all[1 - thread].value, 1'000'000);
              for (unsigned which : {thread, 2u}) tx.write(all[which].value, 1'000'000);
              tx.retry();
            }
            noted(tx, all, thread).write(thread);
            ++done;
          },
          [&](auto& tx) {
            noted(tx, all, thread).write(2);
            ++done;
          });
      if (done != 1) note_wrong();
      on.read(1 - thread);
      on.read(thread);
    });
  }
};

/// Nested blocks: one is irrevocable, one becomes irrevocable by its inner block, and one does not.
struct nesting {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
      transact(thread == 0 ? blocks::irrevocable : blocks::writing, all, thread, [&](auto& on) {
        on.read(0);
        on.write(1);
        tm::atomically(thread == 1 ? blocks::irrevocable : blocks::reading, [&](auto& tx) {
          noted within(tx, all, thread);
          within.read(1);
          within.write(0);
        });
        const bool irrevocable = tm::detail::runner::mine().mode == tm::detail::run_mode::irrevocable;
        if (irrevocable != (thread < 2)) note_wrong();
        on.read(0);
      });
    }
  }
};

/// Transactions that move dctl's clock when they start, as they do after long ones of their block.
struct starting_late {
  using place = apart;
  static constexpr unsigned places = 2;
  static void run(place* all, unsigned thread) {
    if (thread == 0) blocks::writing.start_late(true);
    crossing::run(all, thread);
  }
};

/// One thread writes, or throws after it has written. The other one reads. Meanwhile it moves dctl's clock, as threads
/// do whose attempts are undone, and then its own snapshot.
struct moving_clock {
  using place = apart;
  static constexpr unsigned places = 4;
  static void run(place* all, unsigned thread) {
    for (unsigned i = 0; i < 2; ++i) {
      if (thread == 1) {
        transact(blocks::writing, all, thread, [](auto& on) { on.write(3); });
        transact(blocks::writing, all, thread, [](auto& on) {
          on.read(0);
          tm::detail::shared.clock.fetch_add(2);
          on.read(3);
          for (unsigned pause = 0; pause < 20; ++pause) machine::relax();
          on.read(1);
        });
        continue;
      }
      try {
        transact(blocks::writing, all, thread, [](auto& on) {
          on.write(2);
          throw throwing::enough{};
        });
      } catch (const throwing::enough&) {
        note(event::kind::gives_up, thread);
      }
      for (unsigned turn = 0; turn < 2; ++turn) {
        transact(blocks::writing, all, thread, [](auto& on) {
          on.write(0);
          on.write(1);
        });
      }
    }
  }
};

/// One thread moves its snapshot past its own version, and then writes what the other one reads. Before, the other one
/// has moved dctl's clock by two, as threads do whose attempts are undone. If the clock went back, it could read half
/// of the writes. A snapshot moves in two ways: with nothing read before it, or with something that has to be checked.
template <bool has_read>
struct moving_past {
  using place = apart;
  static constexpr unsigned places = 4;
  static void run(place* all, unsigned thread) {
    if (thread == 0) {
      transact(blocks::writing, all, thread, [](auto& on) { on.write(2); });
      transact(blocks::writing, all, thread, [](auto& on) {
        if constexpr (has_read) on.read(3);
        on.read(2);
        on.write(0);
        on.write(1);
      });
      return;
    }
    tm::detail::shared.clock.fetch_add(2);
    transact(blocks::reading, all, thread, [](auto& on) {
      on.read(0);
      for (unsigned pause = 0; pause < 20; ++pause) machine::relax();
      on.read(1);
    });
  }
};

// The explorations by one algorithm.
#define TXSYNC_OPACITY_BY(name, ...)                                                                                   \
  explored_by<opacity_test<crossing>, 2, __VA_ARGS__>("tm-opacity-crossing-" name, "two write what the other reads"),  \
      explored_by<opacity_test<skewing>, 3, __VA_ARGS__>("tm-opacity-skewing-" name, "three read what two write"),     \
      explored_by<opacity_test<following<apart>>, 3, __VA_ARGS__>("tm-opacity-following-" name,                        \
                                                                  "one reads what two write"),                         \
      explored_by<opacity_test<following<together>>, 3, __VA_ARGS__>("tm-opacity-together-" name,                      \
                                                                     "the same in one ownership record"),              \
      explored_by<opacity_test<ring>, 3, __VA_ARGS__>("tm-opacity-ring-" name, "each writes what the next one reads"), \
      explored_by<opacity_test<mixing<false>>, 3, __VA_ARGS__>("tm-opacity-alone-" name,                               \
                                                               "one runs alone after two aborts"),                     \
      explored_by<opacity_test<mixing<true>>, 3, __VA_ARGS__>("tm-opacity-at-once-" name,                              \
                                                              "one runs alone, one is irrevocable"),                   \
      explored_by<opacity_test<turning>, 3, __VA_ARGS__>("tm-opacity-turning-" name, "one becomes irrevocable"),       \
      explored_by<opacity_test<overtaking>, 2, __VA_ARGS__>("tm-opacity-overtaking-" name,                             \
                                                            "one reads what one writes"),                              \
      explored_by<opacity_test<throwing>, 2, __VA_ARGS__>("tm-opacity-throwing-" name,                                 \
                                                          "one throws what another one reads"),                        \
      explored_by<opacity_test<giving_up>, 3, __VA_ARGS__>("tm-opacity-giving-up-" name, "one throws"),                \
      explored_by<opacity_test<changing>, 3, __VA_ARGS__>("tm-opacity-changing-" name, "another algorithm meanwhile"), \
      explored_by<opacity_test<alternatives>, 2, __VA_ARGS__>("tm-opacity-alternatives-" name, "or_else()"),           \
      explored_by<opacity_test<nesting>, 3, __VA_ARGS__>("tm-opacity-nesting-" name, "blocks within blocks")

constexpr exploration table[] = {
    TXSYNC_EXPLORED_BY_ALL(TXSYNC_OPACITY_BY),
    explored_by<opacity_test<starting_late>, 2, tm::detail::dctl>("tm-opacity-late-dctl", "clocks moved at the start"),
    explored_by<opacity_test<moving_clock>, 2, tm::detail::dctl>("tm-opacity-clock-dctl", "a clock that others move"),
    explored_by<opacity_test<moving_past<false>>, 2, tm::detail::dctl>("tm-opacity-past-dctl",
                                                                       "a clock that must not go back"),
    explored_by<opacity_test<moving_past<true>>, 2, tm::detail::dctl>("tm-opacity-past-reads-dctl",
                                                                      "the same, past a snapshot with reads"),
};
#undef TXSYNC_OPACITY_BY

}  // namespace

std::span<const exploration> tm_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
