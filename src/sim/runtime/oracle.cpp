// SPDX-License-Identifier: Apache-2.0
#include "oracle.hpp"

#include <cstring>

#include "attempts.hpp"
#include "elision.hpp"
#include "failure.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

/// A write that a hook has announced, and that the program does after the hook has returned. Compilers place up to two
/// hooks before one statement. So the write's bytes are copied into the image at each of the next few hooks.
struct announced {
  std::uintptr_t address;
  std::size_t bytes;
  unsigned looks_left;
};
constexpr unsigned looks = 3;

constinit growing_list<undo_entry>* reads_of = nullptr;  // by thread
// By thread: bytes as they were before its attempt wrote them, recorded here and not taken from the undo log.
struct byte_before {
  std::uintptr_t address;
  std::uint8_t value;
};
constinit growing_list<byte_before>* before_of = nullptr;
// By address: one more than the thread whose attempt has written the byte and has not ended yet; 0: none.
constinit std::uint16_t* written_by = nullptr;
constinit growing_list<announced> pending;

bool on_a_stack(std::uintptr_t address) noexcept { return address >= stacks_begin && address < program_end; }
bool is_error_number(const thread_record& thread, std::uintptr_t address) noexcept {
  return address == reinterpret_cast<std::uintptr_t>(&error_number_of(thread));
}
std::uint8_t* image(std::uintptr_t address) noexcept { return reinterpret_cast<std::uint8_t*>(image_begin + address); }
std::uint8_t* known(std::uintptr_t address) noexcept { return reinterpret_cast<std::uint8_t*>(known_begin + address); }
const std::uint8_t* memory(std::uintptr_t address) noexcept { return reinterpret_cast<const std::uint8_t*>(address); }

void found(const thread_record& thread, const char* what, std::uintptr_t address) noexcept {
  line_text line;
  (line << "oracle: " << what << " at ").hexadecimal(address);
  line << " (thread " << thread.id << ")";
  fail(line);
}

/// An elided lock looks taken only to the thread that elided it, so it is not state that threads share.
bool is_own_elision(const thread_record& thread, std::uintptr_t address) noexcept {
  for (unsigned i = 0; i < thread.tx.elided_count; ++i) {
    const elided_lock& lock = thread.tx.elided[i];
    if (address - lock.address < lock.bytes) return true;
  }
  return false;
}

void compare_with_image(const thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (*known(address + i) != 0 && *memory(address + i) != *image(address + i)) {
      found(thread, "memory was written that no hook has seen", address + i);
    }
  }
}

/// Reports an access to bytes that another thread's attempt has written and that has not ended yet.
void refuse_uncommitted(const thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (const unsigned writer = written_by[address + i]; writer != 0 && writer != thread.id + 1) {
      found(thread,
            write ? "a write to what another's attempt has written" : "a read of what another's attempt has written",
            address + i);
    }
  }
}

/// The bytes that the attempt has written are visible to all threads.
void attempt_has_ended(attempt& tx) noexcept {
  for (const undo_entry& entry : tx.undo)
    std::memset(&written_by[entry.address()], 0, entry.length() * sizeof *written_by);
}

void take_into_image(std::uintptr_t address, std::size_t bytes) noexcept {
  std::memcpy(image(address), memory(address), bytes);
  std::memset(known(address), 1, bytes);
}

/// Whether the attempt itself wrote this byte.
bool wrote(attempt& tx, std::uintptr_t address) noexcept {
  for (const undo_entry& entry : tx.undo) {
    if (address - entry.address() < entry.length()) return true;
  }
  return false;
}

bool read_before(growing_list<undo_entry>& own, std::uintptr_t address, std::size_t bytes) noexcept {
  for (const undo_entry& entry : own) {
    if (entry.address() == address && entry.length() == bytes) return true;
  }
  return false;
}

void check_reads(thread_record& thread, const char* what, bool own_writes_count) noexcept {
  for (const undo_entry& entry : reads_of[thread.id]) {
    for (std::size_t i = 0; i < entry.length(); ++i) {
      const std::uintptr_t at = entry.address() + i;
      const auto then = static_cast<std::uint8_t>(entry.old >> (8 * i));
      if (*memory(at) != then && !(own_writes_count && wrote(thread.tx, at))) found(thread, what, at);
    }
  }
}

}  // namespace

void set_up_oracle() noexcept {
  reserve(image_begin, program_end, "oracle's image");
  reserve(known_begin, program_end, "oracle's marks");
  written_by = static_cast<std::uint16_t*>(reserve(0, program_end * sizeof *written_by, "oracle's writers"));
  reads_of = static_cast<growing_list<undo_entry>*>(reserve(0, max_threads * sizeof *reads_of, "oracle's books"));
  before_of = static_cast<growing_list<byte_before>*>(reserve(0, max_threads * sizeof *before_of, "oracle's books"));
  pending.reserve_for(std::size_t{1} << 20, "oracle's pending writes");
}

void oracle_begin(thread_record& thread) noexcept {
  reads_of[thread.id].reserve_for(std::size_t{1} << 20, "oracle's reads");
  reads_of[thread.id].clear();
  before_of[thread.id].reserve_for(std::size_t{1} << 24, "oracle's bytes");
  before_of[thread.id].clear();
}

void oracle_settle() noexcept {
  if (pending.size() == 0) return;
  // In the image, elided locks are as all threads see them.
  thread_record* const self = state.current;
  if (self != nullptr) hide_elided_locks(*self);
  std::size_t kept = 0;
  for (announced& write : pending) {
    take_into_image(write.address, write.bytes);
    if (--write.looks_left != 0) pending[kept++] = write;
  }
  pending.shrink(kept);
  if (self != nullptr) show_elided_locks(*self);
}

void oracle_read(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  if (on_a_stack(address) || is_error_number(thread, address) || is_own_elision(thread, address)) return;
  compare_with_image(thread, address, bytes);
  refuse_uncommitted(thread, address, bytes, false);
  if (thread.tx.depth == 0 || thread.tx.suspended || !thread.tx.tracks_reads) return;
  growing_list<undo_entry>& own = reads_of[thread.id];
  for (std::size_t done = 0; done < bytes; done += 8) {
    const std::size_t part = bytes - done < 8 ? bytes - done : 8;
    if (read_before(own, address + done, part)) continue;
    undo_entry entry{(address + done) | std::uint64_t{part} << 48, 0};
    std::memcpy(&entry.old, memory(address + done), part);
    // What the attempt has written before it read it is not a read of others' state.
    bool own_bytes = false;
    for (std::size_t i = 0; i < part; ++i) own_bytes = own_bytes || wrote(thread.tx, address + done + i);
    if (!own_bytes) own.push(entry);
  }
}

void oracle_write(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept {
  if (on_a_stack(address) || is_error_number(thread, address)) return;
  compare_with_image(thread, address, bytes);
  refuse_uncommitted(thread, address, bytes, true);
  if (thread.tx.depth != 0 && !thread.tx.suspended) {
    for (std::size_t i = 0; i < bytes; ++i) {
      if (written_by[address + i] == thread.id + 1) continue;
      written_by[address + i] = static_cast<std::uint16_t>(thread.id + 1);
      if (!before_of[thread.id].push({address + i, *memory(address + i)})) fail("oracle: an attempt wrote too much");
    }
  }
  if (!pending.push({address, bytes, looks})) fail("oracle: too many writes announced at once");
}

void oracle_before_commit(thread_record& thread) noexcept {
  check_reads(thread, "a committing attempt's read is not what it was", true);
  attempt_has_ended(thread.tx);
}

void oracle_after_abort(thread_record& thread) noexcept {
  // The thread that ended the attempt may have elided a lock, which must be compared as all others see it.
  thread_record* const other = state.current != &thread ? state.current : nullptr;
  if (other != nullptr) hide_elided_locks(*other);
  for (const byte_before& byte : before_of[thread.id]) {
    if (*memory(byte.address) != byte.value)
      found(thread, "an abort has not brought back what was there", byte.address);
  }
  for (const undo_entry& entry : thread.tx.undo) {
    if (!on_a_stack(entry.address())) take_into_image(entry.address(), entry.length());
  }
  check_reads(thread, "an aborted attempt's read is not what it was", false);
  if (other != nullptr) show_elided_locks(*other);
  attempt_has_ended(thread.tx);
}

void oracle_forget(std::uintptr_t address, std::size_t bytes) noexcept {
  std::memset(known(address), 0, bytes);
  if (state.current == nullptr || state.current->tx.depth == 0) return;
  // What the attempt has read there no longer counts: libstdc++ destroys exceptions without a hook.
  growing_list<undo_entry>& own = reads_of[state.current->id];
  std::size_t kept = 0;
  for (const undo_entry& entry : own) {
    if (entry.address() - address >= bytes) own[kept++] = entry;
  }
  own.shrink(kept);
}

}  // namespace txsync::sim
