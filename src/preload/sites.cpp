// SPDX-License-Identifier: Apache-2.0
#include "sites.hpp"

#include <unistd.h>

#include <cstdio>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

#include "call_chain.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

/// Chains of calls that have been answered; open addressing, never emptied.
struct known_chain {
  std::atomic<std::uint64_t> hash{0};
  std::atomic<std::uint64_t> answer{0};  // policy word << 32 | site << 1 | 1; 0: not yet
};
constexpr std::size_t table_size = 16'384;
constinit known_chain table[table_size] = {};

/// The chain's place in the table; null when its neighbourhood is full.
known_chain* place_of(std::uint64_t hash) noexcept {
  for (std::size_t step = 0; step < 64; ++step) {
    known_chain& one = table[(hash + step) % table_size];
    // relaxed: the answer is ordered by itself
    std::uint64_t seen = one.hash.load(std::memory_order_relaxed);
    if (seen == 0 && one.hash.compare_exchange_strong(seen, hash, std::memory_order_relaxed)) return &one;
    if (seen == hash) return &one;
  }
  return nullptr;
}

bool launcher_lives(const channel& file) noexcept {
  // relaxed: a clock
  const std::uint64_t last = file.launcher_alive.load(std::memory_order_relaxed);
  return last != 0 && machine::clock_ns() < last + launcher_patience_ns;
}

struct claim {
  question* slot = nullptr;
  std::uint32_t number = 0;  // of the question, in place in `state`
};

claim claim_question(channel& file) noexcept {
  const std::uint64_t patience_ends = machine::clock_ns() + launcher_patience_ns;
  while (launcher_lives(file) && machine::clock_ns() < patience_ends) {
    for (question& one : file.questions) {
      std::uint32_t seen = one.state.load(std::memory_order_relaxed);  // relaxed: the exchange decides
      if ((seen & question::turn_bits) != question::free) continue;
      const std::uint32_t number = seen + question::number;
      // acquire pairs with the release of the process that used it before
      if (!one.state.compare_exchange_strong(seen, number | question::claimed, std::memory_order_acquire)) continue;
      one.process.store(launchers_number(file), std::memory_order_relaxed);  // relaxed: a hint
      return {&one, number};
    }
    machine::sleep_ns(100'000);
  }
  return {};
}

/// False when the launcher is gone, or too slow; then the slot is free again.
bool await_answer(channel& file, const claim& mine) noexcept {
  std::atomic<std::uint32_t>& state = mine.slot->state;
  const std::uint32_t asked = mine.number | question::asked;
  // acquire pairs with the launcher's release
  while (state.load(std::memory_order_acquire) == asked) {
    if (!launcher_lives(file)) {
      std::uint32_t seen = asked;
      // relaxed: what is in the slot is nobody's any more
      if (state.compare_exchange_strong(seen, mine.number | question::free, std::memory_order_relaxed)) return false;
    } else {
      machine::park_shared(state, asked, machine::clock_ns() + launcher_patience_ns / 8);
    }
  }
  return state.load(std::memory_order_acquire) == (mine.number | question::answered);
}

site_answer ask(channel& file, const call_chain& chain, object_kind kind) noexcept {
  const site_answer unanswered{0, policy::packed::of(file.default_policy)};
  const claim mine = claim_question(file);
  if (mine.slot == nullptr) return unanswered;
  question& asked = *mine.slot;
  asked.kind = kind;
  describe(chain, asked.where);
  asked.state.store(mine.number | question::asked, std::memory_order_release);  // pairs with the launcher's acquire
  file.doorbell.fetch_add(1, std::memory_order_seq_cst);
  machine::unpark_shared(file.doorbell, 1);
  if (!await_answer(file, mine)) return unanswered;
  const site_answer answer{asked.site <= most_sites ? asked.site : 0, policy::packed::of(asked.policy)};
  asked.state.store(mine.number | question::free, std::memory_order_release);  // pairs with claim_question()
  return answer;
}

constexpr const char* words_of(notice_kind kind) noexcept {
  switch (kind) {
    case notice_kind::double_unlock:
      return "a lock was unlocked that nobody held";
    case notice_kind::unlock_by_stranger:
      return "a lock was unlocked by a thread that did not hold it";
    case notice_kind::destroyed_locked:
      return "a lock was destroyed while a thread held it";
    case notice_kind::order_inversion:
      return "two locks are taken in both orders";
    case notice_kind::wait_without_mutex:
      return "a condition wait by a thread that did not hold the mutex";
    case notice_kind::relock_by_owner:
      return "a thread locks a mutex that it holds, and will wait for ever";
  }
  return "";
}

/// True the first time for this place and kind.
bool is_news(std::uint64_t hash) noexcept {
  constexpr std::size_t size = 256;
  static constinit std::atomic<std::uint64_t> told[size] = {};
  for (std::size_t step = 0; step < size; ++step) {
    std::atomic<std::uint64_t>& one = told[(hash + step) % size];
    std::uint64_t seen = 0;
    if (one.compare_exchange_strong(seen, hash, std::memory_order_relaxed)) return true;  // relaxed: a set of numbers
    if (seen == hash) return false;
  }
  return false;
}

void tell_standard_error(notice_kind kind, const call_chain& chain) noexcept {
  char line[512];
  place where;
  describe(chain, where);
  const int length =
      where.count == 0 ? std::snprintf(line, sizeof line, "txsync: %s\n", words_of(kind))
                       : std::snprintf(line, sizeof line, "txsync: %s, by %s+0x%llx (process %d)\n", words_of(kind),
                                       where.frames[0].module, static_cast<unsigned long long>(where.frames[0].offset),
                                       static_cast<int>(getpid()));
  if (length > 0) say(line, static_cast<std::size_t>(length));
}

}  // namespace

site_answer site_of_caller(object_kind kind) noexcept {
  channel* const file = open_file();
  if (file == nullptr) return {0, default_policy()};
  const call_chain chain = chain_of_caller();
  known_chain* const known = place_of(chain.hash() + static_cast<std::uint64_t>(kind) * 2);
  if (known == nullptr) return {0, policy::packed::of(file->default_policy)};
  // acquire, relaxed: the number is all there is
  const std::uint64_t before = known->answer.load(std::memory_order_relaxed);
  if (before != 0)
    return {static_cast<std::uint32_t>(before) >> 1, policy::packed::of(static_cast<std::uint32_t>(before >> 32))};
  const site_answer answer = ask(*file, chain, kind);
  if (answer.site == 0 && !launcher_lives(*file)) return answer;  // asked again, if the launcher comes back
  known->answer.store(std::uint64_t{answer.policy.word()} << 32 | answer.site << 1 | 1, std::memory_order_relaxed);
  return answer;
}

void tell(notice_kind kind, std::uint32_t site, std::uint32_t other_site) noexcept {
  const call_chain chain = chain_of_caller();
  if (!is_news((chain.hash() ^ (std::uint64_t{site} << 32) ^ (std::uint64_t{other_site} << 48)) * 31 +
               static_cast<std::uint64_t>(kind)))
    return;
  channel* const file = open_file();
  if (file == nullptr) return tell_standard_error(kind, chain);
  const std::uint32_t number = file->notices_given.fetch_add(1, std::memory_order_relaxed);  // relaxed: a ticket
  if (number >= channel::most_notices) return;
  notice& one = file->notices[number];
  one.process = launchers_number(*file);
  one.site = site;
  one.other_site = other_site;
  describe(chain, one.where);
  one.kind.store(static_cast<std::uint32_t>(kind), std::memory_order_release);  // pairs with the launcher's acquire
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload
