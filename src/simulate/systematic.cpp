// SPDX-License-Identifier: Apache-2.0
#include "simulate/systematic.hpp"

#include <algorithm>
#include <optional>

#include <txsync/machine/assert.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

namespace {

using touches = std::vector<sim::segment_touch>;

bool has_end_of_process(const touches& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const sim::segment_touch& one) { return one.word == sim::whole_process; });
}

/// The end of the process depends on whatever comes before it, also if that touches nothing.
bool are_dependent(const touches& a, const touches& b) {
  if (has_end_of_process(a) || has_end_of_process(b)) return true;
  return std::any_of(a.begin(), a.end(), [&](const sim::segment_touch& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const sim::segment_touch& other) { return sim::are_dependent(one, other); });
  });
}

bool does(const sim::segment& made, sim::segment_event_kind kind, std::uint64_t of) {
  return std::any_of(made.events.begin(), made.events.end(),
                     [&](const sim::segment_event& one) { return one.kind == kind && one.of == of; });
}

/// The lock that `after` takes and `before` gives up. The thread of `after` may have waited for that.
std::optional<std::uint64_t> lock_between(const sim::segment& before, const sim::segment& after) {
  for (const sim::segment_event& one : after.events) {
    if (one.kind == sim::segment_event_kind::takes && does(before, sim::segment_event_kind::gives_up, one.of))
      return one.of;
  }
  return {};
}

bool is_enabled(const sim::segment& made, unsigned thread) { return (made.enabled >> thread & 1) != 0; }

bool takes(const sim::segment& made, std::uint64_t lock) {
  return does(made, sim::segment_event_kind::takes, lock) || does(made, sim::segment_event_kind::takes_by_try, lock);
}

template <class Clock>
void join(Clock& into, const Clock& from) {
  into.resize(std::max(into.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

template <class Clock>
bool covers(const Clock& time, unsigned thread, std::size_t number) {
  return thread < time.size() && time[thread] > number;
}

}  // namespace

std::vector<std::uint64_t> execution_plan::words() const {
  std::vector<std::uint64_t> all{choices.size()};
  all.insert(all.end(), choices.begin(), choices.end());
  all.push_back(sleeping.size());
  for (const auto& [thread, would_touch] : sleeping) {
    all.insert(all.end(), {thread, would_touch.size()});
    for (const sim::segment_touch& one : would_touch) all.insert(all.end(), {one.word, one.bytes, one.written});
  }
  return all;
}

execution_plan systematic_exploration::next() const {
  TXSYNC_ASSERT(has_next_, "there is an execution that was not made");
  execution_plan plan;
  for (const node& one : nodes_) plan.choices.push_back(one.made.thread);
  if (nodes_.empty()) return plan;
  plan.sleeping = nodes_.back().asleep;
  plan.sleeping.insert(nodes_.back().done.begin(), nodes_.back().done.end());
  plan.sleeping.erase(nodes_.back().made.thread);
  return plan;
}

bool systematic_exploration::is_before(std::size_t a, std::size_t b) const {
  return covers(nodes_[b].time, nodes_[a].made.thread, a);
}

/// Of other threads, the last one first.
std::vector<std::size_t> systematic_exploration::dependent_before(std::size_t number) const {
  std::vector<std::size_t> found;
  const sim::segment& after = nodes_[number].made;
  for (std::size_t at = number; at-- != 0;) {
    const sim::segment& before = nodes_[at].made;
    if (before.thread != after.thread && are_dependent(before.touches, after.touches)) found.push_back(at);
  }
  return found;
}

/// What comes before segment `number` whatever the order: its thread's last segment, what has started or woken the
/// thread, and what it joins.
systematic_exploration::clock systematic_exploration::fixed_order_before(std::size_t number) const {
  const sim::segment& made = nodes_[number].made;
  clock time;
  for (std::size_t at = number; at-- != 0;) {
    const sim::segment& before = nodes_[at].made;
    const bool is_own = before.thread == made.thread;
    if (is_own || does(before, sim::segment_event_kind::makes_runnable, made.thread)) join(time, nodes_[at].time);
    if (is_own) break;
  }
  for (const sim::segment_event& one : made.events) {
    if (one.kind != sim::segment_event_kind::joins) continue;
    for (std::size_t at = number; at-- != 0;) {
      if (nodes_[at].made.thread != one.of) continue;
      join(time, nodes_[at].time);
      break;
    }
  }
  return time;
}

/// Finds the segments that `number` races with: dependent ones that nothing else orders before it.
void systematic_exploration::order(std::size_t number) {
  node& mine = nodes_[number];
  const unsigned thread = mine.made.thread;
  const clock so_far = fixed_order_before(number);
  clock& time = mine.time;
  time = so_far;
  time.resize(std::max<std::size_t>(time.size(), thread + 1));
  time[thread] = number + 1;
  for (const std::size_t at : dependent_before(number)) {
    const sim::segment& before = nodes_[at].made;
    if (covers(time, before.thread, at)) continue;
    reverse(at, number);
    if (const auto lock = lock_between(before, mine.made)) {
      // Perhaps it can come before only if it takes the lock before the other one does.
      std::size_t taken = at;
      while (taken != 0 && !(nodes_[taken].made.thread == before.thread && takes(nodes_[taken].made, *lock))) --taken;
      if (!covers(so_far, before.thread, taken)) reverse(taken, number);
    }
    join(time, nodes_[at].time);
  }
  // What the others would have done comes before the end in other executions.
  if (has_end_of_process(mine.made.touches)) {
    for (unsigned other = 0; other < 64; ++other) {
      if (is_enabled(mine.made, other)) mine.to_do.insert(other);
    }
  }
  reverse_waits(number, so_far, sim::segment_event_kind::waits_at);
}

/// Who waits for a semaphore may also come before others who have waited for it. Who waits for a lock to the end of the
/// run may come before those who have taken it.
void systematic_exploration::reverse_waits(std::size_t number, const clock& so_far, sim::segment_event_kind kind) {
  const sim::segment& waits = nodes_[number].made;
  for (const sim::segment_event& one : waits.events) {
    if (one.kind != kind) continue;
    for (std::size_t at = number; at-- != 0;) {
      const sim::segment& before = nodes_[at].made;
      const bool was_first =
          kind == sim::segment_event_kind::takes ? takes(before, one.of) : does(before, kind, one.of);
      if (before.thread != waits.thread && was_first && !covers(so_far, before.thread, at)) reverse(at, number);
    }
  }
}

/// A thread waits at the end of a run: it comes after nothing of what keeps it from going on.
void systematic_exploration::order_awaited(const sim::segment& awaited) {
  nodes_.push_back({.made = awaited});
  const std::size_t number = nodes_.size() - 1;
  const clock so_far = fixed_order_before(number);
  nodes_[number].time = so_far;
  reverse_waits(number, so_far, sim::segment_event_kind::takes);
  reverse_waits(number, so_far, sim::segment_event_kind::waits_at);
  nodes_.pop_back();
}

/// Sees to it that `after` comes before `before` in another execution, if it can. For that, a thread has to go on in the
/// place of `before`: one of those that can come first on the way there.
void systematic_exploration::reverse(std::size_t before, std::size_t after) {
  node& at = nodes_[before];
  std::vector<unsigned> first;
  std::vector<std::size_t> on_the_way;
  for (std::size_t number = before + 1; number <= after; ++number) {
    if (number != after && is_before(before, number)) continue;
    const unsigned thread = nodes_[number].made.thread;
    const bool has_other_before = std::any_of(on_the_way.begin(), on_the_way.end(), [&](std::size_t one) {
      return nodes_[one].made.thread == thread || is_before(one, number);
    });
    if (!has_other_before) first.push_back(thread);
    on_the_way.push_back(number);
  }
  std::erase_if(first, [&](unsigned thread) { return !is_enabled(at.made, thread); });
  if (std::any_of(first.begin(), first.end(), [&](unsigned thread) { return at.to_do.contains(thread); })) return;
  const unsigned wanted = nodes_[after].made.thread;
  if (std::find(first.begin(), first.end(), wanted) != first.end()) {
    at.to_do.insert(wanted);
  } else if (!first.empty()) {
    at.to_do.insert(first.front());
  }
}

void systematic_exploration::add(std::vector<sim::segment> run, const std::vector<sim::segment>& awaited) {
  for (std::size_t number = 0; number < run.size(); ++number) {
    const bool is_new = number >= nodes_.size();
    if (is_new) {
      node made{.made = {}};
      if (number != 0) {
        // Those that slept before and that the last segment has not disturbed.
        const node& last = nodes_[number - 1];
        made.asleep = last.asleep;
        made.asleep.insert(last.done.begin(), last.done.end());
        std::erase_if(made.asleep, [&](const auto& one) {
          return one.first == last.made.thread || are_dependent(one.second, last.made.touches);
        });
      }
      nodes_.push_back(std::move(made));
    }
    nodes_[number].to_do.insert(run[number].thread);
    nodes_[number].made = std::move(run[number]);
    order(number);
  }
  for (const sim::segment& one : awaited) order_awaited(one);
  has_next_ = go_back();
}

/// To the last place where another thread has to go on. That becomes the last of the nodes.
bool systematic_exploration::go_back() {
  for (; !nodes_.empty(); nodes_.pop_back()) {
    node& last = nodes_.back();
    last.done[last.made.thread] = last.made.touches;
    for (const unsigned thread : last.to_do) {
      if (last.done.contains(thread) || last.asleep.contains(thread)) continue;
      last.made = {.thread = thread, .enabled = last.made.enabled};
      return true;
    }
  }
  return false;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate
