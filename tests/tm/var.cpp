// SPDX-License-Identifier: Apache-2.0
// What a var takes: every trivially copyable type, whole, by every algorithm. Compiled as GNU C++, where __int128 is an
// integral type.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "every_algorithm.hpp"

namespace {

using stm::atomically;
using stm::var;

class Vars : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(Vars);

constinit stm::block plain{"test.var"};

/// Without a default, of so many numbers: less than a word, one, and more.
template <class Number, unsigned count>
struct given {
  explicit given(Number first) : numbers{first} {}
  bool operator==(const given&) const = default;
  Number numbers[count];
};
struct two_sizes {
  std::int32_t first;
  std::int16_t second;
  std::int16_t third;
  std::int32_t fourth;
  bool operator==(const two_sizes&) const = default;
};

static_assert(std::is_trivially_copyable_v<given<int, 1>> && !std::is_default_constructible_v<given<int, 1>>);
static_assert(!std::is_default_constructible_v<var<given<int, 1>>> && std::is_default_constructible_v<var<int>>);

enum class colour : std::uint8_t { red, green };
int somewhere = 0;

// Constant-initialised.
constinit var<float> real{0.5F};
constinit var<double> wide_real{0.25};
constinit var<bool> flag{true};
constinit var<std::int8_t> small{-3};
constinit var<colour> one_colour{colour::green};
constinit var<int*> no_pointer{nullptr};
constinit var<two_sizes> sizes{two_sizes{1, -2, 3, -4}};

template <class T>
void expect_kept(const T& first, const T& second) {
  var<T> place{first};
  EXPECT_TRUE(place.load() == first);
  atomically(plain, [&](auto& tx) {
    EXPECT_TRUE(tx.read(place) == first);
    tx.write(place, second);
    EXPECT_TRUE(tx.read(place) == second);
  });
  EXPECT_TRUE(place.load() == second);
  place.store(first);
  EXPECT_TRUE(place.load() == first);
}

TEST_P(Vars, TakeTypesWithoutADefault) {
  expect_kept(given<std::uint8_t, 3>(1), given<std::uint8_t, 3>(2));
  expect_kept(given<int, 1>(-1), given<int, 1>(2));
  expect_kept(given<int, 2>(-1), given<int, 2>(2));
  expect_kept(given<int, 3>(-1), given<int, 3>(2));
  expect_kept(given<long, 2>(-1), given<long, 2>(2));
}

TEST_P(Vars, TakeNumbersOfEverySize) {
  expect_kept<std::int8_t>(-1, 100);
  expect_kept<std::int16_t>(-1, 30'000);
  expect_kept(std::numeric_limits<std::int64_t>::min(), std::int64_t{5});
  expect_kept(0.5F, -3.25F);
  expect_kept(0.1, -1e300);
  expect_kept(0.1L, -2.5L);
  expect_kept<int*>(nullptr, &somewhere);
  expect_kept(colour::red, colour::green);
#ifdef __SIZEOF_INT128__
  __extension__ using wide = __int128;
#ifndef __clang__
  static_assert(std::is_integral_v<wide>);
#endif
  static constinit var<wide> constant{-7};
  EXPECT_TRUE(constant.load() == -7);
  expect_kept((wide{5} << 64) + 6, -(wide{7} << 100));
#endif
}

TEST(Var, IsConstantInitialised) {
  EXPECT_EQ(real.load(), 0.5F);
  EXPECT_EQ(wide_real.load(), 0.25);
  EXPECT_TRUE(flag.load());
  EXPECT_EQ(small.load(), -3);
  EXPECT_EQ(one_colour.load(), colour::green);
  EXPECT_EQ(no_pointer.load(), nullptr);
  EXPECT_EQ(sizes.load(), (two_sizes{1, -2, 3, -4}));
}

}  // namespace
