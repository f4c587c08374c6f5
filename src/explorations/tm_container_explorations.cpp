// SPDX-License-Identifier: Apache-2.0
// Containers of atomic blocks: whether their operations are linearizable, by every algorithm. Also blocks of several
// operations, by the default algorithm and by one that buffers writes.
#include "explorations/tm_containers.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using namespace explored;

/// Two threads push two each. The third pops all, and waits if there is none. Each thread's elements come in order.
struct queue_test {
  tm::queue<padded<6>> all{};
  std::uint64_t last[2] = {};
  unsigned taken = 0;

  static void body(queue_test& me, unsigned index) {
    if (index < 2) {
      for (std::uint64_t i = 1; i <= 2; ++i) {
        tm::atomically(blocks::writing, [&](auto& tx) { me.all.push(tx, {2 * i + index, {}}); });
      }
      return;
    }
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint64_t got = tm::atomically(blocks::writing, [&](auto& tx) { return me.all.pop(tx).number; });
      std::uint64_t& before = me.last[got % 2];
      if (got / 2 != before + 1) note_wrong();
      before = got / 2;
      ++me.taken;
    }
  }
  const char* check() const { return taken != 4 ? "an element was lost" : check_notes(0, nullptr, nullptr); }
};

/// Two threads move an entry between two maps. A third one always finds it in exactly one of them.
struct maps_test {
  using map = tm::hash_map<std::uint64_t, padded<5>>;
  map maps[2];
  std::uint64_t moves = 0;

  // Their chains are far apart.
  static constexpr std::uint64_t moved = 1;
  static constexpr std::uint64_t another = 3;

  static void body(maps_test& me, unsigned index) {
    if (index == 2) {
      for (unsigned i = 0; i < 2; ++i) {
        tm::atomically(blocks::reading, [&](auto& tx) {
          const bool in_first = me.maps[0].contains(tx, moved);
          const bool in_second = me.maps[1].contains(tx, moved);
          if (in_first && in_second) note_wrong();
          if (!in_first && !in_second && me.maps[0].contains(tx, another)) note_wrong();
        });
      }
      return;
    }
    const std::uint64_t made = tm::atomically(blocks::writing, [&](auto& tx) -> std::uint64_t {
      // The first thread inserts it, and marks this by the other entry.
      if (me.maps[0].insert(tx, another, {0, {}})) me.maps[index].insert(tx, moved, {0, {}});
      const unsigned from = me.maps[0].contains(tx, moved) ? 0 : 1;
      const auto found = me.maps[from].find(tx, moved);
      if (!found.has_value()) {
        note_wrong();
        return 0;
      }
      me.maps[from].erase(tx, moved);
      me.maps[1 - from].insert(tx, moved, {found->number + 1, {}});
      return found->number + 1;
    });
    if (made == 2) me.moves = made;  // by the second thread
  }
  const char* check() const { return moves != 2 ? "a move was lost" : check_notes(0, nullptr, nullptr); }
};

template <class Program, const tm::detail::algorithm& how, bool biased = false>
constexpr exploration linearizable(const char* name) {
  return explored_by<linearizable_test<Program>, askers, how, biased>(name, "operations of three threads");
}

// The explorations by one algorithm.
#define TXSYNC_LINEARIZABLE_BY(name, ...)                                            \
  linearizable<hash_map_program, __VA_ARGS__>("tm-linear-hash-map-" name),           \
      linearizable<sorted_list_program, __VA_ARGS__>("tm-linear-sorted-list-" name), \
      linearizable<ordered_map_program, __VA_ARGS__>("tm-linear-ordered-map-" name), \
      linearizable<linked_list_program, __VA_ARGS__>("tm-linear-linked-list-" name), \
      linearizable<queue_program, __VA_ARGS__>("tm-linear-queue-" name),             \
      linearizable<vector_program, __VA_ARGS__>("tm-linear-vector-" name)

constexpr exploration table[] = {
    TXSYNC_EXPLORED_BY_ALL(TXSYNC_LINEARIZABLE_BY),
    explored_by<queue_test, 3, tm::detail::dctl>("tm-queue-dctl", "two push, one pops"),
    explored_by<queue_test, 3, tm::detail::tl2>("tm-queue-tl2", "two push, one pops"),
    explored_by<maps_test, 3, tm::detail::dctl>("tm-hash-maps-dctl", "two move an entry between maps, one looks"),
    explored_by<maps_test, 3, tm::detail::tl2>("tm-hash-maps-tl2", "two move an entry between maps, one looks"),
};
#undef TXSYNC_LINEARIZABLE_BY

}  // namespace

std::span<const exploration> tm_container_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations
