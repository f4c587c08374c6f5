// SPDX-License-Identifier: Apache-2.0
// Objects of transactions. What an attempt has made is private until it commits, and is freed at once if it does not
// commit. What a transaction has destroyed may still be read by others that began before its commit. It waits until all
// of those have ended. It waits in batches, so that one check of who is running (a heavy fence) serves many objects.
#include <cstdlib>
#include <new>
#include <stdexcept>

#include <txsync/machine/assert.hpp>

#include "tm/hybrid/hardware.hpp"
#include "tm/partition/pages.hpp"
#include "tm/quiescence_gate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

constexpr std::size_t batch = 256;
constexpr std::size_t crowd = 16 * batch;  // with so many that wait, the thread yields to those that they wait for
constexpr unsigned max_turns = 64;

// A small object has a slot in a slab (heap.hpp), which knows whether it lives. Before others stands a mark, in memory
// of the C library's heap. Its lowest byte also says how far before the object that memory begins.
using life_mark = std::atomic<std::uint64_t>;
constexpr std::uint64_t living_mark = 0x7478'6C69'7665'6400;
constexpr std::uint64_t destroyed_mark = 0x7478'676F'6E65'2100;
constexpr std::uint64_t lead_mask = 0xFF;

life_mark& mark_of(void* object) noexcept { return *(static_cast<life_mark*>(object) - 1); }

/// `me`: null if the thread has never run a block.
void free_memory(runner* me, void* object) noexcept {
  if (slab::of(object) != nullptr) {
    return me != nullptr ? me->slots.give(object) : free_slots::give_to_owner(object);
  }
  // relaxed: the thread that wrote it happens before this
  const std::uint64_t lead = mark_of(object).load(std::memory_order_relaxed) & lead_mask;
  std::free(static_cast<char*>(object) - lead);
}

/// What it was before. relaxed, all: of two threads that destroy one object, one finds out.
life end_life_of(void* object) noexcept {
  slab* const around = slab::of(object);
  if (around != nullptr) {
    std::atomic<life>* const known = around->life_of(object);
    return known != nullptr ? known->exchange(life::destroyed, std::memory_order_relaxed) : life::none;
  }
  const std::uint64_t lead = mark_of(object).load(std::memory_order_relaxed) & lead_mask;
  const std::uint64_t before = mark_of(object).exchange(destroyed_mark | lead, std::memory_order_relaxed);
  if (before == (living_mark | lead)) return life::living;
  return before == (destroyed_mark | lead) ? life::destroyed : life::none;
}

void end_life(void* object) noexcept {
  const life before = end_life_of(object);
  if (before == life::living) return;
  if (before == life::destroyed) refuse("an object of atomic blocks was destroyed twice");
  refuse("an atomic block destroyed what no block has made, or an object for the second time");
}

void free_one(runner& me, const heap_object& one) noexcept {
  if (one.destroy != nullptr) one.destroy(one.object);
  free_memory(&me, one.object);
}

/// Each entry is forgotten before it is freed. A child that is forked meanwhile frees what is left, and must not free
/// it again.
void free_all(runner& me, growing_log<heap_object>& which) noexcept {
  order_behind_blocks();
  while (!which.empty()) {
    const heap_object last = *(which.end() - 1);
    which.truncate(which.size() - 1);
    free_one(me, last);
  }
  me.slots.give_back();
}

/// Frees the objects in limbo, if no thread can be reading them any more.
bool try_to_free(runner& me) noexcept {
  while (!me.running.empty()) {
    const seen_running& last = *(me.running.end() - 1);
    if (still_runs(last) && lives(*last.who)) return false;
    me.running.truncate(me.running.size() - 1);
  }
  free_all(me, me.limbo);
  return true;
}

}  // namespace

namespace {
void* take_from_library(std::size_t bytes, std::size_t alignment) {
  const std::size_t lead = alignment > sizeof(life_mark) ? alignment : sizeof(life_mark);
  void* const memory = std::malloc(lead + bytes);
  if (memory == nullptr) throw std::bad_alloc();
  void* const object = static_cast<char*>(memory) + lead;
  new (&mark_of(object)) life_mark(living_mark | lead);
  return object;
}
/// An attempt takes no lock and makes no system call: the block then goes on in software. Null: there is no slot.
void* take_slot(runner& me, std::size_t bytes, heap_area area) {
  if (!me.slots.has_one(bytes, area)) leave_hardware(me);
  return me.slots.take(bytes, area);
}

void* take_anywhere(runner& me, std::size_t bytes, std::size_t alignment, unsigned memory_class) {
  if (heap_pages.is_there()) {
    void* const object = take_slot(me, bytes, area_of_class(memory_class));
    if (object != nullptr) return object;
    heap_pages.has_been_full.store(true, std::memory_order_relaxed);  // relaxed: it guards nothing
  }
  if (bytes > max_slot_bytes) return take_from_library(bytes, alignment);
  void* const object = take_slot(me, bytes, system_area);
  if (object == nullptr) throw std::bad_alloc();
  return object;
}
}  // namespace

void* take_unshared(runner& me, std::size_t bytes, unsigned memory_class) {
  return take_anywhere(me, bytes, alignof(std::max_align_t), memory_class);
}

void* take_memory(engine& me, std::size_t bytes, std::size_t alignment) {
  require_block(me);
  me.has_extras = true;
  me.made.reserve_one();
  runner& mine = runner_of(me);
  void* const object = take_anywhere(mine, bytes, alignment, mine.where->policy().memory_class);
  me.made.append({{object, nullptr}, false});
  return object;
}

namespace {
made_object& made_entry(engine& me, const void* object) noexcept {
  made_object* one = me.made.end();
  do --one;
  while (one->what.object != object);
  return *one;
}

/// A block that destroys it again ends the program.
void give_up(engine& me, made_object& one) noexcept {
  if (one.given_up) return;
  end_life(one.what.object);
  one.given_up = me.gives_up_objects = true;
}
}  // namespace

void keep_made(engine& me, void* object, destructor destroy) noexcept { made_entry(me, object).what.destroy = destroy; }

void forget_made(engine& me, void* object) noexcept { give_up(me, made_entry(me, object)); }

void give_memory(engine& me, void* object, destructor destroy) {
  require_block(me);
  me.has_extras = true;
  me.gone.append({object, destroy});
}

void free_unshared(void* object, destructor destroy) noexcept {
  end_life(object);
  if (destroy != nullptr) destroy(object);
  runner* const me = runner::mine_if_any();
  free_memory(me, object);
  if (me != nullptr) me->slots.give_back();
}

void add_action(engine& me, growing_log<txsync::detail::deferred_action>& list,
                const txsync::detail::deferred_action& action) {
  require_block(me);
  me.has_extras = true;
  list.append(action);
}

void privatize(engine& me) noexcept {
  require_block(me);
  me.has_extras = true;
  me.privatizes = true;
}

void give_up_made(runner& me, std::size_t from) noexcept {
  for (std::size_t i = from; i < me.made.size(); ++i) give_up(me, me.made[i]);
}

void drop_made(runner& me) noexcept {
  for (std::size_t i = me.made.size(); i-- > 0;) free_one(me, me.made[i].what);
  me.slots.give_back();
  me.made.clear();
}

void keep_all_made(runner& me) noexcept {
  if (me.gives_up_objects) {
    for (std::size_t i = me.made.size(); i-- > 0;) {
      if (me.made[i].given_up) free_one(me, me.made[i].what);
    }
    me.slots.give_back();
  }
  me.made.clear();
}

namespace {

/// For when there is no memory to note what waits.
void free_at_once(runner& me, growing_log<heap_object>& which) noexcept {
  wait_for_running(me);
  free_all(me, which);
}

/// Moves what was destroyed since then into limbo, with the transactions that may be reading it. Requires: the limbo is
/// empty.
void fill_limbo(runner& me) noexcept {
  TXSYNC_ASSERT(me.limbo.empty() && me.running.empty(), "the limbo is empty before it is filled");
  me.limbo.swap(me.next_limbo);
  try {
    note_running(me, me.running);
  } catch (const std::bad_alloc&) {
    me.running.clear();
    free_at_once(me, me.limbo);
  }
}

/// Frees the objects in limbo, if that is possible. A thread that has made many wait yields a few times, to threads
/// that were preempted in a transaction.
bool free_in_time(runner& me) noexcept {
  if (try_to_free(me)) {
    me.patience = crowd;
    return true;
  }
  if (me.next_limbo.size() < me.patience) return false;
  for (unsigned turn = 0; turn < max_turns; ++turn) {
    machine::yield();
    if (try_to_free(me)) return true;
  }
  me.patience = me.next_limbo.size() + crowd;
  return false;
}

}  // namespace

void bury_gone(runner& me) noexcept {
  for (const heap_object& one : me.gone) end_life(one.object);
  const std::size_t before = me.next_limbo.size();
  try {
    for (const heap_object& one : me.gone) me.next_limbo.append(one);
    me.gone.clear();
  } catch (const std::bad_alloc&) {
    me.next_limbo.truncate(before);
    return free_at_once(me, me.gone);
  }
  if (me.next_limbo.size() < batch || !free_in_time(me)) return;
  runner::free_orphans();
  fill_limbo(me);
}

void empty_limbo(runner& me) noexcept {
  if (try_to_free(me) && !me.next_limbo.empty()) {
    fill_limbo(me);
    static_cast<void>(try_to_free(me));
  }
  me.slots.settle();
}

void throw_too_long() { throw std::bad_array_new_length(); }
void throw_no_such_element() { throw std::out_of_range("txsync::tm::vector: no element of that index"); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
