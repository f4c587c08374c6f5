// SPDX-License-Identifier: Apache-2.0
#include "profile_writer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <txsync/machine/cpu.hpp>

#include "call_chain.hpp"
#include "known_answers.hpp"
#include "loaded_code.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

/// A part of the file, mapped when it is first needed. Two threads may map it at once. A thread that waited for another
/// one would wait for ever in the child of a fork. Null if the part does not exist.
template <class Area>
Area* mapped_part(std::uint64_t begin, std::size_t reserved) noexcept {
  static constinit std::atomic<Area*> known{nullptr};
  // acquire pairs with the release of the exchange: the pages are there
  Area* area = known.load(std::memory_order_acquire);
  if (area != nullptr || begin == 0) return area;
  auto* const mapped = static_cast<Area*>(channel::map_part(begin, begin + sizeof(Area)));
  const bool is_ready = mapped != nullptr && channel::reserve(mapped, reserved);
  if (is_ready && known.compare_exchange_strong(area, mapped, std::memory_order_acq_rel)) return mapped;
  if (mapped != nullptr) munmap(mapped, sizeof(Area));
  return area;
}

chain_area* the_chains() noexcept {
  const channel::head* const file = open_file();
  return file != nullptr ? mapped_part<chain_area>(file->chains, offsetof(chain_area, records)) : nullptr;
}

event_area* the_events() noexcept {
  const channel::head* const file = open_file();
  return file != nullptr ? mapped_part<event_area>(file->events, sizeof(event_area)) : nullptr;
}

/// Calls of another program may have the same addresses.
std::uint64_t salt_of_process() noexcept {
  static constinit std::atomic<std::uint64_t> known{0};
  std::uint64_t salt = known.load(std::memory_order_relaxed);  // relaxed: a number
  if (salt != 0) return salt;
  const std::uint64_t new_salt = mixed(machine::cycles(), static_cast<std::uint64_t>(getpid())) | 1;
  return known.compare_exchange_strong(salt, new_salt, std::memory_order_relaxed) ? new_salt : salt;
}

/// The index of a file's record; chain_record::no_file if there is no room.
std::uint32_t file_number(chain_area& area, const char (&path)[sizeof(frame::module)]) noexcept {
  std::uint64_t hash = 1;
  for (const char* letter = path; *letter != '\0'; ++letter) hash = mixed(hash, static_cast<unsigned char>(*letter));
  hash |= 1;
  for (std::uint32_t i = 0; i < chain_area::max_files; ++i) {
    std::uint64_t expected = 0;
    // relaxed: the launcher reads paths after the processes have ended, and only the index is used here
    if (area.files[i].hash.compare_exchange_strong(expected, hash, std::memory_order_relaxed)) {
      std::memcpy(area.files[i].path, path, sizeof path);
      return i;
    }
    if (expected == hash) return i;
  }
  return chain_record::no_file;
}

struct addresses {
  std::uintptr_t all[chain_record::max_frames];
  std::uint32_t count = 0;
};

void write_record(chain_area& area, chain_record& record, const addresses& chain) noexcept {
  const int saved_errno = errno;
  record.process = launchers_number(*open_file());
  remember_code(chain.all, chain.count);
  for (std::uint32_t i = 0; i < chain.count; ++i) {
    frame described;
    describe(chain.all[i], described);
    record.offsets[i] = described.offset;
    record.files[i] = described.module[0] == '\0' ? chain_record::no_file : file_number(area, described.module);
  }
  record.count = chain.count;
  errno = saved_errno;
}

constexpr std::uint64_t no_room = 2;  // not a key: keys are odd

/// The record of the chain with that key; null if there is no room.
chain_record* find_record(chain_area& area, std::uint64_t key, bool& is_new) noexcept {
  for (unsigned step = 0; step < chain_area::max_search_steps; ++step) {
    const std::size_t i = (key + step) % chain_area::max_chains;
    std::uint64_t found_key = area.keys[i].load(std::memory_order_relaxed);
    // relaxed, both: the thread that puts the key there writes the record, and publishes it
    is_new = found_key == 0 && area.keys[i].compare_exchange_strong(found_key, key, std::memory_order_relaxed);
    if (is_new && !channel::reserve(&area.records[i], sizeof area.records[i])) {
      area.keys[i].store(no_room, std::memory_order_relaxed);
      return nullptr;
    }
    if (is_new || found_key == key) return &area.records[i];
  }
  return nullptr;
}

/// A lock that unwinding takes must not start another unwinding.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_unwinding = false;

}  // namespace

void write_chain(chain_kind kind, lock_call call, std::uint32_t site, const observe::wait_sum& sum) noexcept {
  chain_area* const area = is_unwinding ? nullptr : the_chains();
  if (area == nullptr) return;
  is_unwinding = true;
  addresses chain;
  chain.count = unwind_caller(chain.all, chain_record::max_frames);
  std::uint64_t key =
      mixed(salt_of_process() ^ code_epoch(),
            std::uint64_t{site} << 8 | static_cast<std::uint64_t>(kind) << 4 | static_cast<std::uint64_t>(call));
  for (std::uint32_t i = 0; i < chain.count; ++i) key = mixed(key, chain.all[i]);
  bool is_new = false;
  chain_record* const record = find_record(*area, key | 1, is_new);
  if (record == nullptr) {
    area->left_out.fetch_add(1, std::memory_order_relaxed);  // relaxed, here and below: counts
  } else {
    record->waits.fetch_add(sum.waits, std::memory_order_relaxed);
    record->wait_ns.fetch_add(sum.ns, std::memory_order_relaxed);
    if (is_new) {
      record->kind = kind;
      record->call = call;
      record->site = site;
      write_record(*area, *record, chain);
      record->is_written.store(1, std::memory_order_release);  // pairs with the launcher's acquire
    }
  }
  is_unwinding = false;
}

void write_event(event_kind kind, std::uint32_t site, const void* lock, std::uint64_t since,
                 std::uint64_t cycles) noexcept {
  event_area* const area = the_events();
  if (area == nullptr) return;
  const std::uint64_t number = area->given.fetch_add(1, std::memory_order_relaxed);  // relaxed: a ticket
  if (number >= event_area::max_events) return;
  profile_event& event = area->events[number];
  event.site = site;
  event.process = static_cast<std::uint32_t>(getpid());
  event.thread = static_cast<std::uint32_t>(gettid());
  event.object = reinterpret_cast<std::uintptr_t>(lock);
  event.since = since;
  event.cycles = cycles;
  event.kind.store(static_cast<std::uint32_t>(kind), std::memory_order_release);  // pairs with the launcher's acquire
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
