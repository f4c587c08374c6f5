// SPDX-License-Identifier: Apache-2.0
// dmp's software transactions: what they do beside those of the algorithm that they are made of. Explorations replace
// single steps by wrong ones.
#pragma once

#include "tm/partition/pages.hpp"
#include "tm/stm/parts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// What dmp has to know of a software algorithm, beside the members of `algorithm`.
struct partitioned_software {
  const algorithm& all;
  /// Moves the transaction's snapshot to now. False: what it has read has changed.
  bool (*renew)(engine& me) noexcept;
  /// Takes what the commit needs, so that no other transaction can commit what this one has read. It may restart. False:
  /// the transaction has written nothing.
  bool (*prepare)(engine& me);
  /// After prepare(): publishes what was written.
  void (*publish)(engine& me) noexcept;
  /// After prepare(): gives back what it has taken, before the transaction is undone.
  void (*give_back)(engine& me) noexcept;
  /// It logs what it has read in runner::values.
  bool logs_values = false;
};
extern const partitioned_software partitioned_norec;
extern const partitioned_software partitioned_tinystm;
extern const partitioned_software partitioned_dctl;

// The inlined half of a transaction reads and writes nothing by itself, so that each access calls the algorithm. What
// it would look at is kept in `hidden_bound` meanwhile.
inline void show_bound(engine& me) noexcept { me.set_bound(runner_of(me).hidden_bound); }
inline void hide_bound(engine& me) noexcept {
  runner_of(me).hidden_bound = me.bound();
  me.set_bound(0);
}

/// Makes the heap if there is none. False: the system refuses, or the hardware makes no attempts.
bool have_heap() noexcept;
/// From now on, the child of a fork gets a copy of the heap. The thread has a runner. False: the system refuses.
bool copy_heap_at_forks() noexcept;

// The steps of a software transaction.

/// Before anything else.
void begin_in_pages(runner& me);
/// Before the first read of a page: from here on, attempts that write it are noticed.
void note_read_of(runner& me, std::uint32_t page);
/// Before the first write: from here on, no attempt gets the page.
void mark_write_of(runner& me, std::uint32_t page);
/// Whether no attempt can have written a page since the transaction has read it.
bool pages_are_valid(const runner& me) noexcept;
/// After a read: restarts the transaction if its reads do not belong together any more.
void catch_up(runner& me, const partitioned_software& how);
/// The transaction has ended: its writes are published, or undone.
void unmark_writes(runner& me) noexcept;
/// The word has no second address, so attempts would not notice it. The block runs anew, without any other.
[[noreturn]] void run_alone(runner& me);

/// The word's page. Does not return if the word is outside of the heap.
inline std::uint32_t page_for(runner& me, const word& cell) {
  if (!heap_pages.has(&cell)) [[unlikely]]
    run_alone(me);
  return heap_pages.page_of(&cell);
}
inline bool changes_are_seen(const runner& me) noexcept {
  return heap_pages.changes.load(std::memory_order_acquire) == me.seen_changes;
}

/// What an attempt asks for. A block that only reads gets no more than that (the paper's isReadOnly).
inline page_use wanted_by(const runner& me, bool write) noexcept {
  return write || !me.where->only_reads() ? page_use::writes : page_use::reads;
}

/// The handler of refused accesses, where the machine reports those of attempts: the thread gets the right.
template <bool (*request)(std::uint32_t page, page_use why) noexcept>
machine::fault_answer serve(void* address, bool write, void*) noexcept {
  if (!heap_pages.has_second(address)) return machine::fault_answer::not_mine;
  runner* const me = runner::mine_if_any();
  if (me == nullptr) return machine::fault_answer::not_mine;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(address) - heap_pages.views.distance;
  const std::uint32_t page = heap_pages.page_of(reinterpret_cast<const void*>(first));
  if (!request(page, wanted_by(*me, write))) me->note_refused_page();
  return machine::fault_answer::retry;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
