// SPDX-License-Identifier: Apache-2.0
// One transaction at a time, in place, with an undo log. What excludes the others depends on the algorithm:
//  - sgl, and htm_sgl and htm_sgl_adaptive when hardware attempts do not commit: a single global lock.
//  - serial: the closed gate.
//  - biased: the gate, which is open for one thread only.
#include <txsync/mutex.hpp>

#include "tm/stm/orecs.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

alignas(machine::pad_bytes) constinit mutex global_lock;  // attempts read its line

bool has_written(const engine& me, const word& cell) noexcept {
  for (const old_value& one : me.undo) {
    if (one.cell == &cell) return true;
  }
  return false;
}

// Hardly ever called, since the bound admits every version, unless the transaction needs a log for retry(). A word that
// it has written itself is none to wait for.
std::uint64_t read_serial(engine& me, const word& cell, orec& record) {
  if (!runner_of(me).wants_log) {
    me.has_unlogged = true;
  } else if (!has_written(me, cell)) {
    me.reads.append(&record);
  }
  return cell.load(std::memory_order_acquire);
}
void write_serial(engine& me, word& cell, orec&, std::uint64_t value) { me.store_in_place(cell, value); }
void roll_back_serial(engine& me) noexcept { undo_from(me, 0); }

void take_global_lock() noexcept TXSYNC_UNCHECKED {
  if (!global_lock.try_lock()) {
    refuse_if_torn();
    global_lock.lock();
  }
  exclude_attempts();
}
void give_global_lock() noexcept TXSYNC_UNCHECKED {
  order_before_attempts();
  global_lock.unlock();
}

constexpr algorithm one_at_a_time = {
    .name = "alone",
    .summary = "",
    .begin = [](engine& me) { begin_serial(me); },
    .read = read_serial,
    .write = write_serial,
    .commit = [](engine& me) { return commit_serial(me); },
    .roll_back = roll_back_serial,
    .roll_back_to = undo_to,
    .is_valid = nullptr,
    .add_reads = add_read_orecs,
    .add_writes = add_undone_words,
};

constexpr algorithm make_biased() {
  algorithm made = one_at_a_time;
  made.name = "biased";
  // Another thread wants to run transactions. This one restarts, and runs beside them.
  made.read = [](engine& me, const word&, orec&) -> std::uint64_t { restart(me, abort_cause::lock_busy); };
  return made;
}

constexpr algorithm make_sgl() {
  algorithm made = one_at_a_time;
  made.name = "sgl";
  made.summary = "a single global lock";
  made.begin = [](engine& me) {
    begin_serial(me);
    take_global_lock();
  };
  made.commit = [](engine& me) {
    const bool wrote = commit_serial(me);
    give_global_lock();
    return wrote;
  };
  made.roll_back = [](engine& me) noexcept {
    roll_back_serial(me);
    give_global_lock();
  };
  return made;
}

constexpr hardware_half attempts_beside_lock = {
    .prepare = [](engine&) noexcept {},
    .begin =
        [](engine&) noexcept {
          if (global_lock.is_held()) machine::abort<machine::attempt_status::code_lock_busy>();
        },
    .end = [](engine&) noexcept {},
};

constexpr algorithm make_htm_sgl() {
  algorithm made = make_sgl();
  made.name = "htm_sgl";
  made.summary = "ten attempts of the hardware, whatever their aborts; then a single global lock";
  made.in_hardware = &attempts_beside_lock;
  made.hardware_tries = papers_tries;
  return made;
}

constexpr algorithm make_htm_sgl_adaptive() {
  algorithm made = make_sgl();
  made.name = "htm_sgl_adaptive";
  made.summary = "attempts of the hardware while their aborts say that another may help; then a single global lock";
  made.in_hardware = &attempts_beside_lock;
  return made;
}

bool takes_global_lock(const algorithm* how) noexcept {
  return how == &sgl || how == &htm_sgl || how == &htm_sgl_adaptive;
}

}  // namespace

bool global_lock_is_held() noexcept { return global_lock.is_held(); }

void forget_global_lock(const runner* me) noexcept {
  const bool mine = me != nullptr && me->mode == run_mode::software && takes_global_lock(me->how);
  // relaxed: there is one thread
  if (global_lock.is_held() && !mine) shared.torn_by_fork.store(true, std::memory_order_relaxed);
}

constinit const algorithm serial = one_at_a_time;
constinit const algorithm biased = make_biased();
constinit const algorithm sgl = make_sgl();
constinit const algorithm htm_sgl = make_htm_sgl();
constinit const algorithm htm_sgl_adaptive = make_htm_sgl_adaptive();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
