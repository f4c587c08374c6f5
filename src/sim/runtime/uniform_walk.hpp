// SPDX-License-Identifier: Apache-2.0
// The selectively uniform random walk (SURW: Zhao, Wolff, Mathur and Roychoudhury, ASPLOS 2025). In each schedule, the
// accesses to one word of memory are the interesting ones. Any order of these is as likely as any other. For that, a
// thread is drawn in proportion to how many of them it has left, and the others wait before theirs. All other events come in the
// order of random priorities. Which words there are, and how often a thread accesses each, is counted in schedules
// before.
#pragma once

#include <cstdint>

#include "fiber.hpp"

namespace txsync::sim {

// ---- counting

/// There are two sets of counts: of schedules in which each access of a program is a step, and of all others. What
/// follows is about the one that was chosen last.
void choose_uses(bool of_all_steps) noexcept;
/// From now on, accesses at steps are counted by word and thread, from 0.
void count_word_uses() noexcept;
/// The thread's next access.
void count_use(const thread_record& thread) noexcept;
/// Later walks use what was counted.
void walk_by_counted_uses() noexcept;
/// The same for uses from a file, which has the members of word_use as words of this machine.
void walk_by_uses_of(const char* path) noexcept;
/// A record for each word that several threads have used, and each of these.
void write_word_uses() noexcept;

// ---- walking

/// Begins the walk of a schedule, and draws its word. Without a word that several threads use, no access is interesting.
void begin_walk() noexcept;
/// Whether the thread's next access is interesting, and another thread was drawn.
bool waits_in_walk(const thread_record& thread) noexcept;
/// How many interesting accesses it has left by the counts. Those that it makes beyond them count as none.
std::uint32_t interesting_left(const thread_record& thread) noexcept;
/// The thread is drawn: the one that was cannot go on.
void draw_in_walk(const thread_record& thread) noexcept;
/// The thread makes its next access. Returns whether that is an interesting one.
bool goes_on_in_walk(const thread_record& thread) noexcept;
/// The accesses of a thread count as those of its creator until it is started.
void started_in_walk(const thread_record& thread) noexcept;

}  // namespace txsync::sim
