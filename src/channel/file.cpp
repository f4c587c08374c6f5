// SPDX-License-Identifier: Apache-2.0
#include "channel/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <txsync/machine/environment.hpp>
#include <txsync/machine/memory.hpp>

#include "channel/not_cancelled.hpp"
#include "channel/once.hpp"
#include "channel/processes.hpp"
#include "machine/known_rate.hpp"
#include "observe/blocks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

namespace {

struct opened {
  head* file_head = nullptr;
  int file = -1;
  dev_t device = 0;
  ino_t number = 0;
};
const opened& the_channel() noexcept;

// ---- parts of the file

int open_by_name() noexcept { return open(machine::environment(file_variable), O_RDWR | O_CLOEXEC | O_NOFOLLOW); }

bool is_the_channel(int descriptor) noexcept {
  struct stat about{};
  return fstat(descriptor, &about) == 0 && about.st_dev == the_channel().device && about.st_ino == the_channel().number;
}

void* map(int descriptor, std::uint64_t begin, std::size_t bytes) noexcept {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(begin));
  if (mapped == MAP_FAILED) return nullptr;
  (void)madvise(mapped, bytes, MADV_DONTDUMP);
  return mapped;
}

void* map_part_of_block(std::uint32_t number, std::size_t begin, std::size_t end) noexcept {
  const head& file = *the_channel().file_head;
  const std::uint64_t block = file.first_block + number * file.block_bytes;
  return map_part(block + begin, block + end);
}

// ---- who owns the blocks

constexpr std::uint32_t no_block = ~std::uint32_t{0};

/// Takes over a block that nobody counts in any more.
std::uint32_t take_over_block(head& file, std::uint32_t self) noexcept {
  // relaxed, here and below: numbers; the exchange decides
  const std::uint32_t given = std::min(file.blocks_given.load(std::memory_order_relaxed), file.block_limit);
  std::uint32_t living = block_owner::process_in(self);
  for (std::uint32_t i = 0; i < given; ++i) {
    std::uint32_t owner = file.block_owners[i].load(std::memory_order_relaxed);
    if (owner == self || owner == block_owner::unnumbered) continue;
    const std::uint32_t process = block_owner::process_in(owner);
    if (process != 0 && process == living) continue;
    // A process of another PID namespace cannot ask about the launcher's process numbers.
    if (owner != 0 && (self == block_owner::unnumbered || !has_ended(process))) {
      living = process;
      continue;
    }
    // acquire pairs with the release of a process that gave it back; a process that has ended writes no more
    if (file.block_owners[i].compare_exchange_strong(owner, self, std::memory_order_acquire)) return i;
  }
  return no_block;
}

std::uint32_t take_number() noexcept {
  head& file = *the_channel().file_head;
  const std::uint32_t self = block_owner::of(launchers_number(file), this_library);
  if (const std::uint32_t left = take_over_block(file, self); left != no_block) return left;
  for (;;) {
    // relaxed: a ticket. None is drawn if none is left, since the number must not wrap around.
    if (file.blocks_given.load(std::memory_order_relaxed) >= 2 * file.block_limit) return no_block;
    const std::uint32_t drawn = file.blocks_given.fetch_add(1, std::memory_order_relaxed);
    if (drawn >= std::min(file.block_limit, head::max_blocks)) return no_block;
    std::uint32_t nobody = 0;
    // relaxed: a new block holds nothing. Another process may have taken it as one that was given back.
    if (file.block_owners[drawn].compare_exchange_strong(nobody, self, std::memory_order_relaxed)) return drawn;
  }
}

void count_out_of_reach() noexcept {
  the_channel().file_head->blocks_out_of_reach.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
}

/// A block that cannot be written is given back: its owner would ask for another one again and again.
observe::block_source::taken take_block(std::size_t bytes) noexcept {
  const std::uint32_t number = take_number();
  if (number == no_block) return {};
  void* begin = map_part_of_block(number, 0, bytes);
  if (begin != nullptr && !reserve(begin, observe::block_bytes_up_to(0))) {
    munmap(begin, bytes);
    begin = nullptr;
  }
  if (begin == nullptr) {
    count_out_of_reach();
    // release pairs with take_over_block()
    the_channel().file_head->block_owners[number].store(0, std::memory_order_release);
  }
  return {begin, number};
}

bool reserve_counters(void* begin, std::size_t bytes) noexcept {
  if (reserve(begin, bytes)) return true;
  count_out_of_reach();
  return false;
}

constexpr observe::block_source blocks_of_file = {take_block, map_part_of_block, reserve_counters};

/// The counts of the program that this process ran before exec stay; its threads have ended. The other library gives
/// its own blocks back: this library may be opening the file later.
void forget_threads_before_exec(head& file) noexcept {
  const std::uint32_t process = launchers_number(file);
  if (process == 0) return;
  for (std::atomic<std::uint32_t>& owner : file.block_owners) {
    std::uint32_t expected = block_owner::of(process, this_library);
    // release pairs with take_over_block()
    owner.compare_exchange_strong(expected, 0, std::memory_order_release, std::memory_order_relaxed);
  }
}

// ---- opening it

/// `error`: the system's error number; 0: none.
void complain(const char* why, int error) noexcept {
  char number[32] = "";
  if (error != 0) std::snprintf(number, sizeof number, " (error %d)", error);
  char line[240];
  const int length = std::snprintf(line, sizeof line, "txsync: process %d %s%s: %s\n", static_cast<int>(getpid()), why,
                                   number, without_file);
  if (length > 0) machine::complain(line, std::min(static_cast<std::size_t>(length), sizeof line - 1));
}

bool is_ours(const head& file) noexcept {
  return file.magic == head::magic_number && file.version == head::current_version &&
         file.block_bytes >= observe::block_bytes() && file.block_layout == observe::block_layout();
}

head* map_head(int descriptor, const struct stat& about) noexcept {
  // The beginning is the same in all versions. A file of another version may be shorter.
  if (!S_ISREG(about.st_mode) || about.st_size < static_cast<off_t>(sizeof(head))) return nullptr;
  auto* const mapped = static_cast<head*>(map(descriptor, 0, sizeof(head)));
  if (mapped == nullptr || is_ours(*mapped)) return mapped;
  munmap(mapped, sizeof(head));
  complain("has another version of txsync than its launcher", 0);
  return nullptr;
}

/// A higher descriptor: programs expect low numbers for themselves.
int moved_up(int descriptor) noexcept {
  constexpr int up = 500;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, up);
  close(descriptor);
  return moved;
}

void open_it(opened& out) noexcept {
  if (machine::environment(file_variable) == nullptr) return;
  const not_cancelled guard;
  const int descriptor = open_by_name();
  if (descriptor < 0) {
    // The file is gone if the launcher has ended. That is not reported.
    if (errno != ENOENT) complain("cannot open the file of its launcher", errno);
    return;
  }
  struct stat about{};
  if (fstat(descriptor, &about) == 0) out.file_head = map_head(descriptor, about);
  out.device = about.st_dev;
  out.number = about.st_ino;
  out.file = moved_up(descriptor);
  if (out.file_head == nullptr) return;
  head& file = *out.file_head;
  forget_threads_before_exec(file);
  // relaxed: a count
  (this_library == counting_library::linked ? file.linked_processes : file.processes)
      .fetch_add(1, std::memory_order_relaxed);
  observe::use_blocks_of(blocks_of_file);
  begin_in(file);
  if (file.cycles_per_second != 0) machine::know_cycles_per_second(file.cycles_per_second);
}

const opened& the_channel() noexcept { return found_once<opened, open_it>(); }

}  // namespace

/// Parts are mapped when they are needed: in a program that calls mlockall(), everything mapped is in memory.
void* map_part(std::uint64_t begin, std::uint64_t end) noexcept {
  const std::uint64_t first = begin & ~std::uint64_t{machine::page_size() - 1};
  const not_cancelled guard;
  void* mapped = nullptr;
  // The program may have closed the descriptor, even just now, and got its number for a file of its own.
  if (is_the_channel(the_channel().file)) {
    mapped = map(the_channel().file, first, end - first);
    if (mapped != nullptr && !is_the_channel(the_channel().file)) {
      munmap(mapped, end - first);
      mapped = nullptr;
    }
  }
  if (mapped == nullptr) {
    const int descriptor = open_by_name();
    if (descriptor < 0) return nullptr;
    if (is_the_channel(descriptor)) mapped = map(descriptor, first, end - first);
    close(descriptor);
  }
  return mapped == nullptr ? nullptr : static_cast<char*>(mapped) + (begin - first);
}

bool reserve(void* begin, std::size_t bytes) noexcept {
  const std::size_t page = machine::page_size();
  const auto first = reinterpret_cast<std::uintptr_t>(begin) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
  const int saved_errno = errno;
  const int status = madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE);
  const int error = errno;
  errno = saved_errno;
  // EINVAL: a kernel before 5.14, which cannot be asked.
  return status == 0 || error == EINVAL;
}

head* open_file() noexcept { return the_channel().file_head; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel
