// SPDX-License-Identifier: Apache-2.0
// The main program of the image that `txsync explore` starts. TEST FIRST COUNT runs that many schedules of one test,
// from the seed FIRST on, and ends at the first that fails. Without arguments it records which tests there are.
#include <string_view>

#include <txsync_backend/runtime.h>

#include "explorations/exploration.hpp"
#include "observe/blocks.hpp"
#include "sim/protocol.hpp"

using namespace txsync::explorations;

extern "C" long write(int file, const void* text, unsigned long bytes);

namespace {

constexpr int wrong_use = 2;

/// Nothing is counted. A thread that reuses the counters of an ended thread would take other steps than the first
/// threads. So a schedule would depend on earlier ones.
constexpr txsync::observe::block_source no_blocks = {
    [](std::size_t) noexcept -> txsync::observe::block_source::taken { return {}; }, nullptr, nullptr};

std::uint64_t number(const char* text) noexcept {
  std::uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<std::uint64_t>(*text - '0');
  return value;
}

void say(int file, const char* text) noexcept {
  unsigned long length = 0;
  while (text[length] != 0) ++length;
  static_cast<void>(write(file, text, length));
}

const std::span<const exploration> all[] = {
    lock_explorations(),         fairness_explorations(),   sharing_explorations(),         eliding_explorations(),
    waiting_explorations(),      phase_explorations(),      warming_explorations(),         mutex_explorations(),
    elided_mutex_explorations(), rwlock_explorations(),     condition_explorations(),       tm_explorations(),
    tm_sharing_explorations(),   tm_waiting_explorations(), tm_announcing_explorations(),   tm_container_explorations(),
    tm_long_explorations(),      tm_pages_explorations(),   tm_pages_seeded_explorations(), tm_seeded_explorations(),
    seeded_explorations(),       litmus_explorations(),     hand_over_explorations(),       left_ticket_explorations(),
    fork_explorations(),         first_use_explorations(),  waiter_limit_explorations(),    tm_slots_explorations()};

const char* word_of(verdict expected) noexcept {
  switch (expected) {
    case verdict::broken:
      return "broken";
    case verdict::broken_with_store_buffers:
      return "broken-with-store-buffers";
    case verdict::broken_with_late_subscription:
      return "broken-with-late-subscription";
    default:
      return "right";
  }
}

const exploration* find(std::string_view name) noexcept {
  for (const auto group : all) {
    for (const exploration& one : group) {
      if (name == one.name) return &one;
    }
  }
  return nullptr;
}

int list() noexcept {
  for (const auto group : all) {
    for (const exploration& one : group) {
      txsync_sim_record_test(one.name, word_of(one.expected), one.summary);
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 1) return list();
  const exploration* test = count == 4 ? find(words[1]) : nullptr;
  if (test == nullptr) return wrong_use;
  txsync_sim_show_cpus(test->cpus);
  txsync::observe::use_blocks_of(no_blocks);
  const std::uint64_t first = number(words[2]);
  const std::uint64_t schedules = number(words[3]);
  // Work that is done once in a process, such as giving a site its number, must not be a step of the schedules that
  // count. So each schedule and its replay are the same whatever ran before. This run also shows how long schedules
  // are.
  txsync_sim_schedule_begin(0);
  static_cast<void>(test->run());
  txsync_sim_expect_such_schedules();
  for (std::uint64_t i = 0; i < schedules; ++i) {
    txsync_sim_schedule_begin(first + i);
    if (const char* fault = test->run(); fault != nullptr) {
      txsync_sim_record(txsync::sim::program_record::schedules, i + 1);
      txsync_sim_record(txsync::sim::program_record::failed_seed, first + i);
      say(2, fault);
      say(2, "\n");
      return 1;
    }
  }
  txsync_sim_record(txsync::sim::program_record::schedules, schedules);
  return 0;
}
