// SPDX-License-Identifier: Apache-2.0
#include "pages.hpp"

#include "attempts.hpp"
#include "failure.hpp"
#include "schedule.hpp"

namespace txsync::sim {

void set_up_pages() noexcept {
  state.page_shift = static_cast<unsigned>(__builtin_ctz(state.model.page_bytes));
  reserve(pages_begin, (program_end >> state.page_shift) * sizeof(page_record), "records of pages");
}

void add_second_view(std::uintptr_t address, std::size_t bytes) noexcept {
  static constinit bool has_records = false;
  const auto records = [](std::uintptr_t at) noexcept { return page_number(at) * sizeof(page_record); };
  if (!has_records) reserve(pages_begin + records(second_view_distance), records(program_end), "records of pages");
  has_records = true;
  for (std::uintptr_t at = address; at < address + bytes; at += state.model.page_bytes) {
    page_of(at).mapped = views::both;
    page_of(at + second_view_distance) = {};
  }
}

namespace {

/// The memory's socket is that of the first touch by either address.
void mark_touched(std::uintptr_t address, unsigned socket) noexcept {
  page_of(address).is_touched = true;
  std::uint8_t& home = page_of(first_address_of(address)).home_plus_one;
  if (home == 0) home = static_cast<std::uint8_t>(socket + 1);
}

}  // namespace

void touch_first(thread_record& thread, std::uintptr_t address) noexcept {
  // Inside an attempt the kernel never learns of the fault, so the page is still missing afterwards.
  if (thread.tx.depth != 0 && !thread.tx.suspended && state.model.htm_fault_aborts != 0)
    abort_self({.why = cause::fault, .address = first_address_of(address)});
  mark_touched(address, cpu_of(thread).socket);
  charge(thread, state.model.page_first_touch);
}

void touch_uncharged(std::uintptr_t address, std::size_t bytes) noexcept {
  if (state.looks_unseen) return;
  ++state.free_of_charge;
  const std::uintptr_t first = first_address_of(address);
  if (state.current == nullptr || first >= program_end || bytes > program_end - first) return;
  const unsigned socket = cpu_of(*state.current).socket;
  for (std::uint64_t page = page_number(address); page <= page_number(address + bytes - 1); ++page) {
    const std::uintptr_t at = page << state.page_shift;
    if (!page_of(at).is_touched) mark_touched(at, socket);
  }
}

std::uintptr_t first_refused(std::uintptr_t address, std::size_t bytes, bool write) noexcept {
  const std::uintptr_t mask = state.model.page_bytes - 1;
  for (std::uintptr_t at = address; at < address + bytes; at = (at | mask) + 1) {
    const rights allowed = page_of(at).allowed;
    if (allowed == rights::none || (write && allowed == rights::read)) return at;
  }
  return 0;
}

namespace {

/// Whether a set of the attempt has a line in the range.
bool holds(growing_list<tracked_line>& set, std::uintptr_t address, std::size_t bytes) noexcept {
  for (const tracked_line& one : set) {
    if (state.lines.address_of(one.line) - first_address_of(address) < bytes) return true;
  }
  return false;
}

bool takes_rights_away(std::uintptr_t address, std::size_t bytes, rights allowed) noexcept {
  for (std::uintptr_t at = address; at < address + bytes; at += state.model.page_bytes) {
    // In exploring orders no first touch is noted.
    if ((exploring() || page_of(at).is_touched) && page_of(at).allowed < allowed) return true;
  }
  return false;
}

}  // namespace

void shoot_down(thread_record& self, std::uintptr_t address, std::size_t bytes, rights allowed) noexcept {
  if (!takes_rights_away(address, bytes, allowed)) return;
  const unsigned price = state.model.page_shootdown;
  unsigned last_core = ~0u;
  for (unsigned i = 0; i < state.cpu_count; ++i) {
    hardware_thread& cpu = state.cpus[i];
    if (cpu.running == nullptr || cpu.running == &self) continue;
    attempt& tx = cpu.running->tx;
    const bool is_hit = price != 0 || holds(tx.reads, address, bytes) || holds(tx.writes, address, bytes);
    if (tx.depth != 0 && is_hit)
      abort_other(*cpu.running, {.why = cause::interrupt, .address = first_address_of(address)});
    if (cpu.core != cpu_of(self).core && cpu.core != last_core) charge(self, price);
    last_core = cpu.core;
  }
}

void set_rights(std::uintptr_t address, std::size_t bytes, rights allowed) noexcept {
  if (allowed != rights::read_write) {
    state.guards_pages = true;
    if (state.uncharged) charge_from_now_on();  // accesses that are not looked at would not be refused
  }
  for (std::uintptr_t at = address; at < address + bytes; at += state.model.page_bytes) page_of(at).allowed = allowed;
  for (unsigned i = 0; i < state.cpu_count; ++i) {
    state.cpus[i].plain.clear();
    state.cpus[i].in_attempt.clear();
  }
}

void forget_touches(std::uintptr_t address, std::size_t bytes) noexcept {
  for (std::uintptr_t at = address; at < address + bytes; at += state.model.page_bytes) {
    page_record& page = page_of(at);
    page = {.home_plus_one = 0, .is_touched = false, .allowed = page.allowed, .mapped = page.mapped};
  }
}

void forget_pages(std::uintptr_t address, std::size_t bytes) noexcept {
  forget_touches(address, bytes);
  set_rights(address, bytes, rights::read_write);
}

}  // namespace txsync::sim
