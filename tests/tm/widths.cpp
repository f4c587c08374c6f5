// SPDX-License-Identifier: Apache-2.0
// What the words of atomic blocks can count. Clock, versions, activities and timestamps have 63 or 64 bits. At one
// commit a nanosecond 2^62 take 146 years, so nothing checks for their end. No code here may use fewer of the bits: the
// clock is set to where 32 bits end, and to where 62 do. Readers are not counted: each thread has a bit for each
// record. Records are 2^20, and words share them.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "every_algorithm.hpp"
#include "tm/shared.hpp"

namespace {

constexpr int threads = 3;
constexpr long transfers = 150;
constexpr std::uint64_t steps_before = 40;  // of the clock, to where a width ends

class Widths : public every_algorithm {
 protected:
  void TearDown() override {
    // The clock goes up only: records may have any version below it.
    ASSERT_LT(stm::detail::shared.clock.load(), std::uint64_t{1} << 62 | std::uint64_t{1} << 32);
    every_algorithm::TearDown();
  }

  /// From one to the other, some of them undone; each looks at the sum.
  void transfer_between(stm::var<long>& one, stm::var<long>& other) {
    const auto body = [&](int index) {
      for (long i = 0; i < transfers; ++i) {
        const auto move = [&](auto& tx) {
          const long before = tx.read(one);
          const long beside = tx.read(other);
          if (before + beside != 0) tx.write(torn_, true);
          tx.write(one, before + 1);
          if (i % 3 == index) throw std::runtime_error("undone");
          tx.write(other, beside - 1);
        };
        try {
          stm::atomically(moving_, move);
          done_[index] += 1;
        } catch (const std::runtime_error&) {
        }
      }
    };
    std::vector<std::thread> all;
    for (int index = 0; index < threads; ++index) all.emplace_back(body, index);
    for (std::thread& each : all) each.join();
  }
  void expect_sums(const stm::var<long>& one, const stm::var<long>& other) {
    const long expected = done_[0] + done_[1] + done_[2];
    EXPECT_EQ(expected, threads * transfers - threads * transfers / 3);
    stm::atomically(moving_, [&](auto& tx) {
      EXPECT_EQ(tx.read(one), expected);
      EXPECT_EQ(tx.read(other), -expected);
      EXPECT_FALSE(tx.read(torn_));
    });
  }

  stm::block moving_{"test.widths.moving"};
  stm::var<bool> torn_{false};
  long done_[threads] = {};
};

TEST_P(Widths, OfTheClockAreNowhereLessThanItsOwn) {
  for (const unsigned bits : {32U, 62U}) {
    const std::uint64_t end = std::uint64_t{1} << bits;
    if (stm::detail::shared.clock.load() < end - steps_before) stm::detail::shared.clock.store(end - steps_before);
    const std::uint64_t before = stm::detail::shared.clock.load();
    stm::var<long> one{0};
    stm::var<long> other{0};
    for (long& each : done_) each = 0;
    transfer_between(one, other);
    expect_sums(one, other);
    // Those that have a clock moved it past the end of the width: by commits, or dctl by what was undone.
    const std::uint64_t after = stm::detail::shared.clock.load();
    EXPECT_TRUE(after == before || after >= end) << after;
  }
}

/// Words at a distance of all records have the same one.
TEST_P(Widths, OfRecordsLetWordsShareThem) {
  constexpr std::size_t apart = stm::detail::record_count << stm::detail::stripe_shift;
  constexpr std::size_t bytes = apart + 4'096;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const one = new (memory) stm::var<long>{0};
  auto* const other = new (static_cast<char*>(memory) + apart) stm::var<long>{0};
  transfer_between(*one, *other);
  expect_sums(*one, *other);
  munmap(memory, bytes);
}

TXSYNC_FOR_EVERY_ALGORITHM(Widths);

}  // namespace
