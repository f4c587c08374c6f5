// SPDX-License-Identifier: Apache-2.0
// Small programs of operations on containers of atomic blocks. Each operation is noted with its answer.
#pragma once

#include <txsync/tm/hash_map.hpp>
#include <txsync/tm/linked_list.hpp>
#include <txsync/tm/ordered_map.hpp>
#include <txsync/tm/queue.hpp>
#include <txsync/tm/sorted_list.hpp>
#include <txsync/tm/vector.hpp>

#include "explorations/linearizable.hpp"
#include "explorations/tm_explored.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored {

/// An element so large that no two nodes share a stripe, wherever they are on the heap.
template <unsigned words>
struct padded {
  std::uint64_t number;
  std::uint64_t rest[words - 1];
};

/// Operations. For a map, the low half of the argument is a key from 1 to 3. The other half is a value from 1 to 15.
/// For a sequence, the argument is a value or an index.
enum class ask : std::uint8_t {
  insert,
  assign,
  erase,
  find,
  push_back,
  push_front,
  pop_back,
  pop_front,
  last_to_front,
  set_first,
  at,
  size,
  contents
};
inline constexpr std::uint32_t nothing = ~std::uint32_t{0};

constexpr operation make(ask what, unsigned argument = 0) noexcept {
  return {static_cast<std::uint8_t>(what), static_cast<std::uint8_t>(argument)};
}
constexpr operation make(ask what, unsigned key, unsigned value) noexcept { return make(what, key | value << 4); }
constexpr ask what_of(const operation& one) noexcept { return static_cast<ask>(one.what); }
constexpr std::uint64_t key_of(const operation& one) noexcept { return one.argument & 15u; }
constexpr std::uint32_t value_of(const operation& one) noexcept { return one.argument >> 4; }
constexpr bool only_looks(const operation& one) noexcept {
  const ask what = what_of(one);
  return what == ask::find || what == ask::at || what == ask::size || what == ask::contents;
}

/// The model of a map, for these operations.
struct map_model {
  std::uint32_t values[4] = {};  ///< by key; 0: the key is absent

  std::uint32_t run(const operation& one) noexcept {
    std::uint32_t& here = values[key_of(one)];
    const std::uint32_t before = here;
    switch (what_of(one)) {
      case ask::insert:
        if (before == 0) here = value_of(one);
        return before == 0;
      case ask::assign:
        here = value_of(one);
        return before == 0;
      case ask::erase:
        here = 0;
        return before != 0;
      case ask::find:
        return before != 0 ? before : nothing;
      case ask::size:
        return (values[1] != 0) + (values[2] != 0) + (values[3] != 0);
      default:
        return values[1] << 4 | values[2] << 8 | values[3] << 12;
    }
  }
};

/// The model of a sequence of up to seven values.
struct sequence_model {
  std::uint32_t values[8] = {};
  std::uint32_t length = 0;

  std::uint32_t run(const operation& one) noexcept {
    switch (what_of(one)) {
      case ask::push_back:
        values[length++] = one.argument;
        return 0;
      case ask::push_front:
        put_first(one.argument);
        return 0;
      case ask::pop_back:
        return length != 0 ? values[--length] : nothing;
      case ask::pop_front:
        return length != 0 ? take_first() : nothing;
      case ask::last_to_front:
        if (length != 0) put_first(values[--length]);
        return 0;
      case ask::set_first:
        if (length != 0) values[0] = one.argument;
        return 0;
      case ask::at:
        return one.argument < length ? values[one.argument] : nothing;
      case ask::size:
        return length;
      default:
        return digits();
    }
  }

 private:
  void put_first(std::uint32_t value) noexcept {
    for (std::uint32_t i = length++; i > 0; --i) values[i] = values[i - 1];
    values[0] = value;
  }
  std::uint32_t take_first() noexcept {
    const std::uint32_t first = values[0];
    --length;
    for (std::uint32_t i = 0; i < length; ++i) values[i] = values[i + 1];
    return first;
  }
  std::uint32_t digits() const noexcept {
    std::uint32_t made = 0;
    for (std::uint32_t i = 0; i < length; ++i) made = made << 4 | values[i];
    return made;
  }
};

template <class Optional>
std::uint32_t number_in(const Optional& found) {
  return found.has_value() ? static_cast<std::uint32_t>(found->number) : nothing;
}

/// What each of the threads asks, in order.
inline constexpr unsigned askers = 3;
using script = operation[askers][3];

/// Two threads insert, assign and erase. The third one looks, and erases what one of them may have inserted.
template <class Map>
struct map_program {
  using model = map_model;
  static constexpr script asked = {{make(ask::insert, 1, 5), make(ask::erase, 2, 0), make(ask::size)},
                                   {make(ask::insert, 2, 6), make(ask::assign, 1, 7), make(ask::find, 2, 0)},
                                   {make(ask::find, 1, 0), make(ask::insert, 3, 8), make(ask::erase, 1, 0)}};
  Map all{};

  template <class Tx>
  std::uint32_t run(Tx& tx, const operation& one) {
    const std::uint64_t key = key_of(one);
    switch (what_of(one)) {
      case ask::insert:
        return all.insert(tx, key, {value_of(one), {}});
      case ask::assign:
        return all.assign(tx, key, {value_of(one), {}});
      case ask::erase:
        return all.erase(tx, key);
      case ask::find:
        return number_in(all.find(tx, key));
      case ask::size:
        return static_cast<std::uint32_t>(all.size(tx));
      default:
        break;
    }
    std::uint32_t made = 0;
    for (const auto& [there, value] : all.all(tx)) made |= static_cast<std::uint32_t>(value.number << 4 * there);
    return made;
  }
};

using hash_map_program = map_program<tm::hash_map<std::uint64_t, padded<5>>>;
using sorted_list_program = map_program<tm::sorted_list<std::uint64_t, padded<5>>>;
using ordered_map_program = map_program<tm::ordered_map<std::uint64_t, padded<3>>>;

/// A sequence's answer to ask::size, or to ask::contents.
template <class Sequence, class Tx>
std::uint32_t size_or_contents(const Sequence& all, Tx& tx, const operation& one) {
  if (what_of(one) == ask::size) return static_cast<std::uint32_t>(all.size(tx));
  std::uint32_t made = 0;
  for (const auto value : all.all(tx)) made = made << 4 | static_cast<std::uint32_t>(value.number);
  return made;
}

/// Two threads push and one pops. One thread of each kind also looks.
struct queue_program {
  using model = sequence_model;
  static constexpr script asked = {{make(ask::push_back, 1), make(ask::push_back, 2), make(ask::at, 0)},
                                   {make(ask::push_back, 3), make(ask::size), make(ask::pop_front)},
                                   {make(ask::pop_front), make(ask::pop_front), make(ask::push_back, 4)}};
  tm::queue<padded<6>> all{};

  template <class Tx>
  std::uint32_t run(Tx& tx, const operation& one) {
    switch (what_of(one)) {
      case ask::push_back:
        all.push(tx, {one.argument, {}});
        return 0;
      case ask::pop_front:
        return number_in(all.try_pop(tx));
      case ask::at:
        return number_in(all.front(tx));
      default:
        return size_or_contents(all, tx, one);
    }
  }
};

/// Both ends of a list; also moves its last element to the front.
struct linked_list_program {
  using model = sequence_model;
  static constexpr script asked = {{make(ask::push_back, 1), make(ask::push_front, 2), make(ask::pop_back)},
                                   {make(ask::push_back, 3), make(ask::last_to_front), make(ask::pop_front)},
                                   {make(ask::pop_front), make(ask::push_front, 4), make(ask::size)}};
  tm::linked_list<padded<5>> all{};

  template <class Tx>
  std::uint32_t run(Tx& tx, const operation& one) {
    switch (what_of(one)) {
      case ask::push_back:
        static_cast<void>(all.push_back(tx, {one.argument, {}}));
        return 0;
      case ask::push_front:
        static_cast<void>(all.push_front(tx, {one.argument, {}}));
        return 0;
      case ask::pop_back:
        return number_in(all.pop_back(tx));
      case ask::pop_front:
        return number_in(all.pop_front(tx));
      case ask::last_to_front:
        if (!all.empty(tx)) all.move_to_front(tx, all.back(tx));
        return 0;
      default:
        return size_or_contents(all, tx, one);
    }
  }
};

/// A vector that grows at its fourth element. Elements are set and removed.
struct vector_program {
  using model = sequence_model;
  static constexpr script asked = {{make(ask::push_back, 1), make(ask::push_back, 2), make(ask::at, 1)},
                                   {make(ask::push_back, 3), make(ask::set_first, 9), make(ask::pop_back)},
                                   {make(ask::push_back, 4), make(ask::at, 0), make(ask::size)}};
  tm::vector<padded<5>> all{};

  template <class Tx>
  std::uint32_t run(Tx& tx, const operation& one) {
    switch (what_of(one)) {
      case ask::push_back:
        all.reserve(tx, 3);  // the storage has whole stripes, now and when it doubles
        all.push_back(tx, {one.argument, {}});
        return 0;
      case ask::pop_back:
        return all.empty(tx) ? nothing : static_cast<std::uint32_t>(all.pop_back(tx).number);
      case ask::set_first:
        if (!all.empty(tx)) all.set(tx, 0, {one.argument, {}});
        return 0;
      case ask::at:
        return one.argument < all.size(tx) ? static_cast<std::uint32_t>(all.at(tx, one.argument).number) : nothing;
      default:
        return size_or_contents(all, tx, one);
    }
  }
};

/// Runs an operation as a block.
struct in_one_block {
  template <class Program>
  static std::uint32_t perform(Program& program, const operation& one) {
    return tm::atomically(only_looks(one) ? blocks::reading : blocks::writing,
                          [&](auto& tx) { return program.run(tx, one); });
  }
};

/// A program's operations, noted, and the content at the end.
template <class Program, class Way = in_one_block>
struct linearizable_test {
  Program program{};

  static void perform(linearizable_test& me, unsigned thread, const operation& one) {
    note(event::kind::asks, thread, one.what, one.argument);
    const std::uint32_t answer = Way::perform(me.program, one);
    note(event::kind::commits, thread, 0, answer);
  }
  static void body(linearizable_test& me, unsigned thread) {
    for (const operation& one : Program::asked[thread]) perform(me, thread, one);
  }
  const char* check() {
    in_threads<linearizable_test, 1>(*this,
                                     [](linearizable_test& me, unsigned) { perform(me, askers, make(ask::contents)); });
    linearization_checker<typename Program::model> checker;
    for (std::uint32_t i = 0; i < note_count(); ++i) {
      const event seen = note_at(i);
      if (seen.what == event::kind::asks) {
        checker.asks(seen.thread, {seen.place, static_cast<std::uint8_t>(seen.value)});
      } else {
        checker.answers(seen.thread, seen.value);
      }
    }
    return checker.fault();
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations::explored
