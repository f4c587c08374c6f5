// SPDX-License-Identifier: Apache-2.0
// txsync top for any other program: which threads wait, and who holds what they wait for.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/print.hpp"
#include "base/words.hpp"
#include "cli/top.hpp"
#include "symbols/code_place.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::hexadecimal;

namespace {

using attach::seen_object;
using attach::seen_thread;
using attach::wait_kind;

/// Waiters with the same calls form one group.
struct waiter_group {
  const seen_thread* first;
  std::vector<const seen_thread*> threads;
};

std::vector<waiter_group> groups_of(const std::vector<seen_thread>& waiters) {
  std::vector<waiter_group> made;
  for (const seen_thread& one : waiters) {
    const auto known = std::find_if(made.begin(), made.end(), [&one](const waiter_group& group) {
      return group.first->calls == one.calls && group.first->complete == one.complete;
    });
    if (known == made.end()) {
      made.push_back({&one, {&one}});
    } else {
      known->threads.push_back(&one);
    }
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const auto& a, const auto& b) { return a.threads.size() > b.threads.size(); });
  return made;
}

std::string with_count(std::size_t count, const char* one, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

std::string text_of(const seen_thread& thread) { return fmt::format("{} ({})", thread.id, thread.name); }

constexpr std::size_t max_waiters_named = 8;

std::string list_of(const std::vector<const seen_thread*>& threads) {
  std::string made;
  for (std::size_t i = 0; i < threads.size() && i < max_waiters_named; ++i)
    made += (i == 0 ? "" : ", ") + text_of(*threads[i]);
  if (threads.size() > max_waiters_named) made += fmt::format(", and {} more", threads.size() - max_waiters_named);
  return made;
}

void print_calls(std::FILE* out, const seen_thread& thread) {
  for (const attach::named_frame& one : thread.calls) base::print(out, "      {}\n", attach::text_of(one));
  if (thread.calls.empty()) {
    std::fputs("      (its calls could not be read)\n", out);
  } else if (!thread.complete) {
    std::fputs("      ... (further calls are unknown)\n", out);
  }
}

const char* what_it_is(wait_kind kind) {
  switch (kind) {
    case wait_kind::join:
      return "end of a thread";
    case wait_kind::once:
      return "initialisation by another thread";
    case wait_kind::futex:
      return "futex of unknown kind";
    default:
      return attach::to_string(kind);
  }
}

/// "mutex queue_lock in program (0x404060)".
std::string title_of(const seen_object& one) {
  const std::string address = hexadecimal(one.object.address);
  return fmt::format("{} {}", what_it_is(one.object.kind),
                     one.name.empty() ? address : fmt::format("{} ({})", one.name, address));
}

void print_owner(std::FILE* out, const seen_object& one, const attach::waiting& seen) {
  if (one.owner) {
    std::string state = to_string(one.owner->state);
    if (one.owner->waits_for != 0) {
      const auto other = std::find_if(seen.objects.begin(), seen.objects.end(), [&one](const seen_object& candidate) {
        return candidate.object.address == one.owner->waits_for;
      });
      state += " for " + (other == seen.objects.end() ? hexadecimal(one.owner->waits_for) : title_of(*other));
    }
    base::print(out, "  held by {}, which {}{}\n", text_of(one.owner->thread),
                one.owner->state == attach::owner_state::stopped ? "is " : "", state);
    print_calls(out, one.owner->thread);
  } else if (one.object.readers != 0) {
    base::print(out, "  held for reading by {}; which ones is not recorded\n",
                with_count(one.object.readers, "thread", "threads"));
  } else if (attach::is_lock(one.object.kind)) {
    std::fputs("  holder unknown: the lock was released just now, or its holder is not recorded\n", out);
  }
}

void print_object(std::FILE* out, const seen_object& one, const attach::waiting& seen) {
  base::print(out, "\n{}: {}\n", title_of(one), with_count(one.waiters.size(), "thread waits", "threads wait"));
  print_owner(out, one, seen);
  for (const waiter_group& group : groups_of(one.waiters)) {
    base::print(out, "  {}: {}\n", with_count(group.threads.size(), "waiter", "waiters"), list_of(group.threads));
    print_calls(out, *group.first);
  }
}

std::size_t waiters_at(const attach::waiting& seen, bool locks) {
  std::size_t count = 0;
  for (const seen_object& one : seen.objects) {
    if (attach::is_lock(one.object.kind) == locks) count += one.waiters.size();
  }
  return count;
}

}  // namespace

void print_threads(std::FILE* out, const attach::waiting& seen) {
  base::print(out, "{}: {} run, {} wait for locks, {} at other futexes\n",
              with_count(seen.threads, "thread", "threads"), seen.running, waiters_at(seen, true),
              waiters_at(seen, false));
  if (seen.stops != 0) {
    base::print(
        out, "stops: {}, each of one thread; of the longest ones {:.3f} ms copying, {:.3f} ms with the time to stop\n",
        seen.stops, static_cast<double>(seen.max_copy_ns) / 1e6, static_cast<double>(seen.max_stop_ns) / 1e6);
  }
  if (!seen.deadlock.empty()) {
    std::string path;
    for (const int thread : seen.deadlock) path += fmt::format("{} -> ", thread);
    base::print(out, "deadlock: each waits for a lock of the next: {}{}\n", path, seen.deadlock.front());
  }
  for (const seen_object& one : seen.objects) print_object(out, one, seen);
  for (const std::string& remark : seen.remarks) base::print(out, "remark: {}\n", remark);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
