// SPDX-License-Identifier: Apache-2.0
// The machines that are shipped: all of them can be read, by file and by name, and are the machines that they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "sim/models/machine_file.hpp"
#include "sim/models/plain_text.hpp"

namespace fs = std::filesystem;
namespace sim = txsync::sim;
using sim::machine_model;

namespace {

sim::machine shipped(const std::string& name) {
  return sim::read_machine((fs::path(TXSYNC_SHIPPED_MACHINES) / (name + ".toml")).string());
}

/// Where a number of a machine is from.
sim::provenance from(const sim::machine& of, std::uint32_t machine_model::* member) {
  return of.from[sim::field_index(member)];
}

TEST(ShippedMachines, AllCanBeReadAndSayWhereEachNumberIsFrom) {
  std::vector<std::string> names;
  for (const fs::directory_entry& one : fs::directory_iterator(TXSYNC_SHIPPED_MACHINES)) {
    const sim::machine made = sim::read_machine(one.path().string());
    names.push_back(made.name);
    EXPECT_EQ(made.file, one.path().string());
    EXPECT_FALSE(made.title.empty());
    EXPECT_FALSE(made.notes.empty());
    ASSERT_EQ(made.from.size(), sim::fields().size());
    unsigned line = 0;
    for (const sim::provenance& number : made.from) {
      EXPECT_GT(number.source.size(), 5u) << made.name << ":" << number.line;
      EXPECT_GT(number.line, line) << made.name << ": in the order of the list";
      line = number.line;
    }
  }
  std::ranges::sort(names);
  EXPECT_EQ(names,
            (std::vector<std::string>{"broadwell-e5-2697v4", "granite-rapids", "haswell-i5-4670t", "haswell-i7-4770",
                                      "ideal", "power8-8284-22a", "sapphire-rapids", "zec12-like"}));
}

TEST(ShippedMachines, AreFoundByName) {
  setenv("TXSYNC_MACHINES", TXSYNC_SHIPPED_MACHINES, 1);
  const std::vector<std::string> names = sim::machine_names();
  EXPECT_GE(names.size(), 8u);
  for (const std::string& name : names) EXPECT_EQ(sim::load_machine(name).name, name);
}

TEST(ShippedMachines, Threads) {
  const machine_model broadwell = shipped("broadwell-e5-2697v4").model;
  EXPECT_EQ(broadwell.total_cores(), 36u);
  EXPECT_EQ(broadwell.hardware_threads(), 72u);
  EXPECT_EQ(shipped("haswell-i7-4770").model.hardware_threads(), 8u);
  EXPECT_EQ(shipped("haswell-i5-4670t").model.hardware_threads(), 4u);
  EXPECT_EQ(shipped("power8-8284-22a").model.hardware_threads(), 80u);
  EXPECT_EQ(shipped("power8-8284-22a").model.total_cores(), 10u);
  EXPECT_EQ(shipped("granite-rapids").model.core_sockets, 2u);
  EXPECT_EQ(shipped("granite-rapids").model.hardware_threads(), 384u);
  EXPECT_EQ(shipped("ideal").model.hardware_threads(), 64u);
}

TEST(ShippedMachines, WhatBoundsAWriteSet) {
  for (const char* name : {"haswell-i7-4770", "haswell-i5-4670t", "broadwell-e5-2697v4"}) {
    const machine_model model = shipped(name).model;
    EXPECT_EQ(model.l1_kib * 1024 / model.l1_line, 512u) << name;
    EXPECT_EQ(model.l1_kib * 1024 / model.l1_line / model.l1_ways, 64u) << name << ": sets";
    EXPECT_EQ(model.htm_write_in_l1, 1u) << name;
    EXPECT_EQ(model.htm_entries, 0u) << name;
    EXPECT_EQ(model.htm_nesting, 7u) << name;
  }
  for (const char* name : {"sapphire-rapids", "granite-rapids"}) {
    const machine_model model = shipped(name).model;
    EXPECT_EQ(model.l1_kib * 1024 / model.l1_line, 768u) << name;
    EXPECT_EQ(model.l1_ways, 12u) << name;
    EXPECT_EQ(model.htm_hle, 0u) << name;
  }
}

TEST(ShippedMachines, Power8) {
  const machine_model model = shipped("power8-8284-22a").model;
  EXPECT_EQ(model.l1_line, 128u);
  EXPECT_EQ(model.page_bytes, 65536u);
  EXPECT_EQ(model.htm_entries, 64u);
  EXPECT_EQ(model.htm_entries * model.l1_line, 8192u);
  EXPECT_EQ(model.htm_reads_in_entries, 1u);
  EXPECT_EQ(model.htm_write_in_l1, 0u);
  EXPECT_EQ(model.htm_nesting, 62u);
  EXPECT_EQ(model.htm_timer_aborts, 0u);
  EXPECT_EQ(model.htm_suspend, 1u);
  EXPECT_EQ(model.htm_rollback_only, 1u);
}

TEST(ShippedMachines, TheMachineOfTheFit) {
  const sim::machine made = shipped("haswell-i5-4670t");
  EXPECT_EQ(made.model.htm_begin + made.model.htm_commit, 36u);
  EXPECT_EQ(made.model.os_timer_hz, 100u);
  EXPECT_EQ(made.model.htm_allocation_aborts, 1u);
  EXPECT_EQ(from(made, &machine_model::htm_nesting).how, sim::confidence::read);
  EXPECT_EQ(from(made, &machine_model::htm_nesting).source.rfind("fit: ", 0), 0u);
  EXPECT_EQ(from(made, &machine_model::memory_local).how, sim::confidence::estimate);
}

/// The chance that an attempt that reads so many KiB commits. It checks that the loss of read lines is the one that was
/// fitted to the sources.
double commits(const machine_model& model, double kib) {
  const double beyond = (kib - model.l1_kib) * 1024 / model.l1_line;
  return std::pow(1 - model.htm_read_loss / 1e6, beyond);
}

TEST(ShippedMachines, ReadCapacity) {
  const machine_model thesis = shipped("haswell-i5-4670t").model;
  EXPECT_NEAR(commits(thesis, 50), 0.93, 0.03);
  EXPECT_GT(commits(thesis, 200), 0.5);
  EXPECT_LT(commits(thesis, 850), 0.1);
  EXPECT_NEAR(commits(shipped("haswell-i7-4770").model, 4096), 0.5, 0.02) << "Nakaike's load capacity";
}

TEST(ShippedMachines, IdealCostsTheSameEverywhere) {
  const machine_model model = shipped("ideal").model;
  EXPECT_EQ(model.memory_local, model.core_access);
  EXPECT_EQ(model.memory_dirty_socket, model.core_access);
  EXPECT_EQ(model.htm_write_in_l1 + model.htm_entries + model.htm_read_limit + model.htm_read_loss, 0u);
  EXPECT_EQ(model.os_timer_hz + model.htm_timer_aborts, 0u);
}

TEST(ShippedMachines, InWords) {
  EXPECT_EQ(sim::htm_words(shipped("haswell-i7-4770").model), "writes in the L1, HLE");
  EXPECT_EQ(sim::htm_words(shipped("power8-8284-22a").model), "64 lines, suspend, rollback-only");
  EXPECT_EQ(sim::htm_words(shipped("zec12-like").model), "32 written lines");
  EXPECT_EQ(sim::htm_words(shipped("ideal").model), "unbounded, HLE, suspend, rollback-only, always-abort");
  machine_model none;
  EXPECT_EQ(sim::htm_words(none), "none");
}

TEST(ShippedMachines, SurviveTheWayToTheRuntime) {
  for (const fs::directory_entry& one : fs::directory_iterator(TXSYNC_SHIPPED_MACHINES)) {
    const machine_model model = sim::read_machine(one.path().string()).model;
    const std::string text = sim::to_plain_text(model);
    machine_model back;
    ASSERT_TRUE(sim::read_plain_text(text, back)) << text;
    for (const sim::field& number : sim::fields())
      EXPECT_EQ(back.*number.member, model.*number.member) << number.name();
    EXPECT_NE(text.find("\nl1.line " + std::to_string(model.l1_line) + "\n"), std::string::npos) << text;
  }
}

TEST(ShippedMachines, PlainTextThatIsNotWhole) {
  const std::string text = sim::to_plain_text(shipped("ideal").model);
  const std::string last = text.substr(0, text.size() - 1);
  std::string word = text;
  word.replace(word.find("1000"), 4, "100O");
  std::string range = text;
  range.replace(range.find("1000"), 4, "1000000");
  for (const std::string& wrong : {std::string(), last, text + "x", text + text, word, range, text.substr(10)}) {
    machine_model into;
    EXPECT_FALSE(sim::read_plain_text(wrong, into)) << wrong;
    EXPECT_EQ(into.core_mhz, 0u);
  }
}

}  // namespace
