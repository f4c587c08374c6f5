// SPDX-License-Identifier: Apache-2.0
// Schedules of explorations: what both the image that runs them and the process that starts it must know. Needs no
// library, as protocol.hpp.
#pragma once

#include <cstdint>

namespace txsync::sim {

/// How the next thread is chosen.
enum class schedule_order : std::uint8_t {
  virtual_time,
  random,
  priorities,
  round_robin,
  delay_bounded,
  partial_order,
  uniform_walk,
  systematic
};
inline constexpr unsigned schedule_orders = 8;
/// The word for it, in options and keys.
constexpr const char* name_of(schedule_order order) noexcept {
  constexpr const char* names[schedule_orders] = {"virtual-time",  "random",        "priorities",   "round-robin",
                                                  "delay-bounded", "partial-order", "uniform-walk", "systematic"};
  return names[static_cast<unsigned>(order)];
}
/// A program's schedules take turns of these: each finds faults that the others seldom find.
inline constexpr schedule_order orders_of_programs[] = {schedule_order::random, schedule_order::priorities,
                                                        schedule_order::delay_bounded, schedule_order::partial_order,
                                                        schedule_order::uniform_walk};
/// Whether each access of a program is a step in the schedule. The instructions that access shared memory are known from
/// a few runs only. Each order's turn comes.
constexpr bool has_all_steps(std::uint64_t seed) noexcept {
  constexpr std::uint64_t every = 8;
  return seed % every == seed / every % every;
}

/// How many cores the machine has on which programs are explored: each thread has one of its own.
inline constexpr std::uint32_t cores_of_programs = 128;

/// Words of keys for what a schedule tries besides.
namespace mode_word {
inline constexpr char store_buffers[] = "store-buffers";
inline constexpr char races[] = "races";
}  // namespace mode_word

/// The runs of a program that are made before its schedules. Every second one is by priorities: then a thread often
/// does all that it can before others go on; in random order it seldom does.
namespace profile_runs {
inline constexpr unsigned learning = 8;
inline constexpr unsigned counting = 4;
/// A program of more steps is long, and has fewer runs.
inline constexpr std::uint64_t max_steps = 500'000;
inline constexpr unsigned of_long_program = 2;
inline constexpr std::uint64_t min_choices = 2;
constexpr schedule_order order_of(std::uint64_t seed) noexcept {
  return seed % 2 == 0 ? schedule_order::random : schedule_order::priorities;
}
/// The limit of steps follows from those of one run: a long program is no livelock.
inline constexpr std::uint64_t steps_for_one = 20;
inline constexpr std::uint64_t min_limit = 10'000'000;
inline constexpr std::uint64_t max_steps_of_first = 100'000'000;
}  // namespace profile_runs

}  // namespace txsync::sim
