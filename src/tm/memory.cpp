// SPDX-License-Identifier: Apache-2.0
// Objects of transactions. What an attempt has made is nobody else's until it commits, and goes at once where it does
// not. What a transaction has destroyed may still be looked at by others that began before its commit: it waits until
// all of those have ended, in batches, so that the look at who is running (a heavy fence) is shared by many.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>

#include "tm/gate.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

namespace {

constexpr std::size_t batch = 256;

void free_all(growing_log<heap_object>& which, std::size_t from = 0) noexcept {
  for (std::size_t i = which.size(); i-- > from;) {
    const heap_object one = which[i];
    if (one.destroy != nullptr) one.destroy(one.object);
    std::free(one.object);
  }
  which.truncate(from);
}

/// The limbo's objects, if nobody can be looking at them any more.
bool try_to_free(runner& me) noexcept {
  while (!me.running.empty()) {
    if (still_runs(*(me.running.end() - 1))) return false;
    me.running.truncate(me.running.size() - 1);
  }
  free_all(me.limbo);
  return true;
}

}  // namespace

void* take_memory(engine& me, std::size_t bytes) {
  if (me.mode == run_mode::idle) refuse("a transaction was used outside of its block");
  me.has_extras = true;
  me.made.reserve_one();
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  me.made.append({memory, nullptr});
  return memory;
}

namespace {
heap_object& made_entry(engine& me, const void* object) noexcept {
  heap_object* one = me.made.end();
  do --one;
  while (one->object != object);
  return *one;
}
}  // namespace

void keep_made(engine& me, void* object, destructor destroy) noexcept { made_entry(me, object).destroy = destroy; }

void forget_made(engine& me, void* object) noexcept {
  heap_object& entry = made_entry(me, object);
  std::free(entry.object);
  entry = *(me.made.end() - 1);
  me.made.truncate(me.made.size() - 1);
}

void give_memory(engine& me, void* object, destructor destroy) {
  if (me.mode == run_mode::idle) refuse("a transaction was used outside of its block");
  me.has_extras = true;
  me.gone.append({object, destroy});
}

void add_action(engine& me, growing_log<txsync::detail::deferred_action>& list,
                const txsync::detail::deferred_action& action) {
  if (me.mode == run_mode::idle) refuse("a transaction was used outside of its block");
  me.has_extras = true;
  list.append(action);
}

void privatize(engine& me) noexcept {
  me.has_extras = true;
  me.privatizes = true;
}

void drop_made(runner& me, std::size_t from) noexcept { free_all(me.made, from); }

namespace {

/// Where there is no memory to keep books of what waits.
void free_at_once(runner& me, growing_log<heap_object>& which) noexcept {
  wait_for_running(me);
  free_all(which);
}

void refuse_twice(const growing_log<heap_object>& gone) noexcept {
  std::sort(gone.begin(), gone.end(),
            [](const heap_object& one, const heap_object& other) { return std::less<>()(one.object, other.object); });
  const auto same = [](const heap_object& one, const heap_object& other) { return one.object == other.object; };
  if (std::adjacent_find(gone.begin(), gone.end(), same) != gone.end()) {
    refuse("an atomic block destroyed an object twice");
  }
}

}  // namespace

void bury_gone(runner& me) noexcept {
  refuse_twice(me.gone);
  const std::size_t before = me.next_limbo.size();
  try {
    for (const heap_object& one : me.gone) me.next_limbo.append(one);
    me.gone.clear();
  } catch (const std::bad_alloc&) {
    me.next_limbo.truncate(before);
    return free_at_once(me, me.gone);
  }
  if (me.next_limbo.size() < batch || !try_to_free(me)) return;
  me.limbo.swap(me.next_limbo);
  try {
    note_running(me, me.running);
  } catch (const std::bad_alloc&) {
    me.running.clear();
    free_at_once(me, me.limbo);
  }
}

void empty_limbo(runner& me) noexcept {
  if (!try_to_free(me) || me.next_limbo.empty()) return;  // else the runner's next thread tries again
  me.limbo.swap(me.next_limbo);
  try {
    note_running(me, me.running);
  } catch (const std::bad_alloc&) {
    me.running.clear();
    return free_at_once(me, me.limbo);
  }
  static_cast<void>(try_to_free(me));
}

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail
