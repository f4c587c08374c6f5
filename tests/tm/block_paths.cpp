// SPDX-License-Identifier: Apache-2.0
// What blocks note at their sites about the path that they take, on the scripted machine. Its clock moves as bodies say.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <type_traits>

#include <machine/scripted/script.hpp>
#include <txsync/tm.hpp>

#include "../observe/site_totals.hpp"
#include "observe/name_words.hpp"

namespace {

namespace stm = txsync::tm;
namespace observe = txsync::observe;
using observe::path_reason;
using txsync::script::machine_script;

constinit stm::block timed{"block_paths.timed"};
constinit stm::block other{"block_paths.other"};
constinit stm::block without{"block_paths.without", {.hardware_attempts = 0}};
constinit stm::block alone{"block_paths.alone", {.irrevocable = true}};

class BlockPaths : public testing::Test {
 protected:
  BlockPaths() { script.clock_by_hand(begin); }
  ~BlockPaths() override {
    begin = script.now() + 1;
    script.have_rtm();
    EXPECT_TRUE(stm::use_algorithm("dctl"));
    timed.forget();
  }

  void use(const char* algorithm) {
    script.have_rtm();
    script.attempts_exclude_each_other();
    EXPECT_TRUE(stm::use_algorithm(algorithm));
  }
  /// Each of them takes so many cycles on either path.
  void blocks(stm::block& where, unsigned count, std::uint64_t in_hardware = 100, std::uint64_t in_software = 100) {
    for (unsigned i = 0; i < count; ++i) {
      stm::atomically(where, [&](auto& tx) {
        constexpr bool is_software = std::is_same_v<std::remove_cvref_t<decltype(tx)>, stm::transaction>;
        script.advance(is_software ? in_software : in_hardware);
        tx.write(number, tx.read(number) + 1);
      });
    }
  }
  static observe::path_note note_of(stm::block& where) { return totals_of(where.get_site()).path; }
  static path_reason reason_of(const observe::path_note& note) { return static_cast<path_reason>(note.reason); }

  // Notes of earlier tests are older.
  static inline std::uint64_t begin = 1'000'000;
  machine_script script;
  stm::var<int> number{0};
};

TEST_F(BlockPaths, EachAlgorithmIsNotedByItsName) {
  for (const stm::algorithm_name& one : stm::algorithms()) {
    use(one.name);
    script.advance(1);
    blocks(other, 1);
    EXPECT_EQ(observe::name_in(note_of(other).algorithm), one.name);
  }
}

TEST_F(BlockPaths, AnAlgorithmDecidesForAllBlocks) {
  use("dctl");
  blocks(other, 1);
  EXPECT_EQ(note_of(other).in_hardware, 0u);
  EXPECT_EQ(reason_of(note_of(other)), path_reason::by_algorithm);
  use("hydctl");
  script.advance(1);
  blocks(other, 1);
  EXPECT_EQ(note_of(other).in_hardware, 1u);
  EXPECT_EQ(reason_of(note_of(other)), path_reason::by_algorithm);
  EXPECT_EQ(note_of(other).hardware_cycles, 0u);
}

TEST_F(BlockPaths, AnotherThreadsLaterNoteCounts) {
  use("dctl");
  blocks(other, 1);
  std::thread([&] {
    script.advance(1);
    EXPECT_TRUE(stm::use_algorithm("norec"));
    blocks(other, 1);
  }).join();
  EXPECT_EQ(observe::name_in(note_of(other).algorithm), "norec");
}

TEST_F(BlockPaths, HardwareIsTriedFirstUntilBothAreTimed) {
  static constinit stm::block fresh{"block_paths.fresh"};
  use("auto");
  blocks(fresh, 1);
  EXPECT_EQ(note_of(fresh).in_hardware, 1u);
  EXPECT_EQ(reason_of(note_of(fresh)), path_reason::not_timed);
  EXPECT_EQ(observe::name_in(note_of(fresh).algorithm), "auto");
}

TEST_F(BlockPaths, TheCheaperPathIsPreferredAndBothMeansAreNoted) {
  use("auto");
  blocks(timed, 20'000, 200, 900);
  const observe::path_note note = note_of(timed);
  EXPECT_EQ(note.in_hardware, 1u);
  EXPECT_EQ(reason_of(note), path_reason::by_cycles);
  EXPECT_NEAR(static_cast<double>(note.hardware_cycles), 200, 20);
  EXPECT_NEAR(static_cast<double>(note.software_cycles), 900, 90);
  const stm::block_path path = stm::path_of(timed);
  EXPECT_TRUE(path.in_hardware);
  EXPECT_EQ(path.why, path_reason::by_cycles);
  EXPECT_EQ(observe::difference(totals_of(timed.get_site()), {}).path.noted, note.noted);
}

TEST_F(BlockPaths, WhatThePathThatWasLeftTookStaysKnown) {
  use("auto");
  // Soon after it has been left, the hardware is timed again.
  for (unsigned i = 0; i < 100'000 && stm::path_of(timed).in_hardware; ++i) blocks(timed, 1, 5'000, 700);
  const observe::path_note note = note_of(timed);
  EXPECT_EQ(note.in_hardware, 0u);
  EXPECT_EQ(reason_of(note), path_reason::by_cycles);
  EXPECT_NEAR(static_cast<double>(note.hardware_cycles), 5'000, 500);
  EXPECT_NEAR(static_cast<double>(note.software_cycles), 700, 70);
}

TEST_F(BlockPaths, ABlockWithoutAttemptsSaysSo) {
  use("auto");
  blocks(without, 100);
  blocks(alone, 1);
  for (stm::block* const one : {&without, &alone}) {
    EXPECT_EQ(note_of(*one).in_hardware, 0u) << one->name();
    EXPECT_EQ(reason_of(note_of(*one)), path_reason::by_block_policy) << one->name();
  }
}

TEST_F(BlockPaths, WithoutHardwareAutoSaysSo) {
  EXPECT_TRUE(stm::use_algorithm("auto"));
  blocks(other, 1);
  EXPECT_EQ(observe::name_in(note_of(other).algorithm), "auto");
  EXPECT_EQ(note_of(other).in_hardware, 0u);
  EXPECT_EQ(reason_of(note_of(other)), path_reason::no_hardware);
  EXPECT_TRUE(stm::use_algorithm("hydctl"));
  script.advance(1);
  blocks(other, 1);
  EXPECT_EQ(reason_of(note_of(other)), path_reason::no_hardware);
}

TEST_F(BlockPaths, AnUncountedBlockNotesNothing) {
  static constinit stm::block uncounted{"block_paths.uncounted"};
  uncounted.get_site().set_policy(txsync::policy_word::counting_off);
  use("dctl");
  blocks(uncounted, 3);
  uncounted.get_site().set_policy(0);
  EXPECT_EQ(note_of(uncounted).noted, 0u);
}

}  // namespace
