// SPDX-License-Identifier: Apache-2.0
// This process' view of the launcher's file, and the blocks of counters in it.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <txsync/machine/environment.hpp>
#include <txsync/machine/memory.hpp>

#include "contention.hpp"
#include "found_once.hpp"
#include "identity.hpp"
#include "machine/known_rate.hpp"
#include "not_cancelled.hpp"
#include "observe/blocks.hpp"
#include "order.hpp"
#include "sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

struct opened {
  channel* head = nullptr;
  policy::packed everywhere{};  // where there is no head
  int file = -1;
  dev_t device = 0;
  ino_t number = 0;
};
const opened& the_channel() noexcept;

// ---- parts of the file

int open_by_name() noexcept { return open(machine::environment(channel_variable), O_RDWR | O_CLOEXEC | O_NOFOLLOW); }

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
  const channel& file = *the_channel().head;
  const std::uint64_t block = file.first_block + number * file.block_bytes;
  return map_part(block + begin, block + end);
}

// ---- whose the blocks are

constexpr std::uint32_t no_block = ~std::uint32_t{0};

/// A block that nobody counts in any more.
std::uint32_t take_over_block(channel& file, std::uint32_t self) noexcept {
  // relaxed, here and below: numbers; the exchange decides
  const std::uint32_t given = std::min(file.blocks_given.load(std::memory_order_relaxed), file.block_limit);
  std::uint32_t living = self;
  for (std::uint32_t i = 0; i < given; ++i) {
    std::uint32_t owner = file.block_processes[i].load(std::memory_order_relaxed);
    if (owner == self || owner == living || owner == channel::unnumbered) continue;
    // A process of another namespace cannot ask for the launcher's numbers.
    if (owner != 0 && (self == channel::unnumbered || !has_ended(owner))) {
      living = owner;
      continue;
    }
    // acquire pairs with the release of a process that gave it back; one that has ended writes no more
    if (file.block_processes[i].compare_exchange_strong(owner, self, std::memory_order_acquire)) return i;
  }
  return no_block;
}

std::uint32_t take_number() noexcept {
  channel& file = *the_channel().head;
  const std::uint32_t number = launchers_number(file);
  const std::uint32_t self = number != 0 ? number : channel::unnumbered;
  if (const std::uint32_t left = take_over_block(file, self); left != no_block) return left;
  for (;;) {
    // relaxed: a ticket. Not drawn where none is left: the number must not come around.
    if (file.blocks_given.load(std::memory_order_relaxed) >= 2 * file.block_limit) return no_block;
    const std::uint32_t drawn = file.blocks_given.fetch_add(1, std::memory_order_relaxed);
    if (drawn >= std::min(file.block_limit, channel::max_blocks)) return no_block;
    std::uint32_t nobody = 0;
    // relaxed: a new block holds nothing. Another process may have taken it for one that was given back.
    if (file.block_processes[drawn].compare_exchange_strong(nobody, self, std::memory_order_relaxed)) return drawn;
  }
}

observe::block_source::taken take_block(std::size_t bytes) noexcept {
  const std::uint32_t number = take_number();
  if (number == no_block) return {};
  void* const begin = map_part_of_block(number, 0, bytes);
  if (begin == nullptr) {
    the_channel().head->blocks_out_of_reach.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
    // release pairs with take_over_block()
    the_channel().head->block_processes[number].store(0, std::memory_order_release);
  }
  return {begin, number};
}

constexpr observe::block_source blocks_of_file = {take_block, map_part_of_block, reserve};

/// The counts of the program that this process ran before exec stay; its threads have ended.
void forget_threads_before_exec(channel& file) noexcept {
  const std::uint32_t self = launchers_number(file);
  for (std::atomic<std::uint32_t>& process : file.block_processes) {
    std::uint32_t seen = self;
    // release pairs with take_over_block()
    if (self != 0) process.compare_exchange_strong(seen, 0, std::memory_order_release, std::memory_order_relaxed);
  }
}

// ---- opening it

constexpr policy::packed built_in_policy = {policy::lock_kind::mutex,     policy::rwlock_kind::rwlock,
                                            policy::spinlock_kind::tatas, true,
                                            policy::elision_kind::off,    policy::warm_up_kind::off};

policy::packed policy_of_environment() noexcept {
  const char* const text = machine::environment(policy_variable);
  if (text == nullptr) return built_in_policy;
  std::uint32_t word = 0;
  for (const char* digit = text; *digit != '\0'; ++digit) word = word * 10 + static_cast<std::uint32_t>(*digit - '0');
  return policy::packed::of(word);
}

void complain_of_file(int error) noexcept {
  // The file is gone if the launcher has ended; that is no news.
  if (error == ENOENT) return;
  char line[160];
  const int length = std::snprintf(line, sizeof line,
                                   "txsync: process %d cannot open the file of its launcher (error %d): its locks have "
                                   "the default policy and are not counted\n",
                                   static_cast<int>(getpid()), error);
  if (length > 0) say(line, static_cast<std::size_t>(length));
}

bool is_ours(const channel& file) noexcept {
  return file.magic == channel::magic_number && file.version == channel::current_version &&
         file.block_bytes >= observe::block_bytes();
}

channel* map_head(int descriptor, const struct stat& about) noexcept {
  if (!S_ISREG(about.st_mode) || about.st_size < static_cast<off_t>(sizeof(channel))) return nullptr;
  auto* const head = static_cast<channel*>(map(descriptor, 0, sizeof(channel)));
  if (head == nullptr || is_ours(*head)) return head;
  munmap(head, sizeof(channel));
  return nullptr;
}

/// Out of the way: programs expect small numbers for themselves.
int moved_up(int descriptor) noexcept {
  constexpr int up = 500;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, up);
  close(descriptor);
  return moved;
}

void open_it(opened& out) noexcept {
  out.everywhere = built_in_policy;
  if (machine::environment(channel_variable) == nullptr) return;
  out.everywhere = policy_of_environment();
  const not_cancelled meanwhile;
  const int descriptor = open_by_name();
  if (descriptor < 0) return complain_of_file(errno);
  struct stat about{};
  if (fstat(descriptor, &about) == 0) out.head = map_head(descriptor, about);
  out.device = about.st_dev;
  out.number = about.st_ino;
  out.file = moved_up(descriptor);
  if (out.head == nullptr) return;
  forget_threads_before_exec(*out.head);
  // relaxed, here and below: a count, and what is read by threads that have found the file open
  out.head->processes.fetch_add(1, std::memory_order_relaxed);
  order_watched.store(out.head->check_order != 0, std::memory_order_relaxed);
  observe::use_blocks_of(blocks_of_file);
  watch_contention(*out.head);
  if (out.head->cycles_per_second != 0) machine::know_cycles_per_second(out.head->cycles_per_second);
}

const opened& the_channel() noexcept { return found_once<opened, open_it>(); }

}  // namespace

/// Mapped when they are needed: of a program that calls mlockall() all that is mapped is in memory.
void* map_part(std::uint64_t begin, std::uint64_t end) noexcept {
  const std::uint64_t first = begin & ~std::uint64_t{machine::page_size() - 1};
  const not_cancelled meanwhile;
  void* mapped = nullptr;
  // The program may have closed the descriptor, and have got its number for a file of its own, even just now.
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

channel* open_file() noexcept { return the_channel().head; }

policy::packed default_policy() noexcept { return the_channel().everywhere; }
std::uint32_t site_without_channel() noexcept { return 0; }

std::uint32_t launchers_number(const channel& file) noexcept {
  struct stat about{};
  const int saved_errno = errno;
  const bool same = stat("/proc/self/ns/pid", &about) == 0 && about.st_ino == file.processes_of;
  errno = saved_errno;
  return same ? static_cast<std::uint32_t>(getpid()) : 0;
}

void say(const char* text, std::size_t length) noexcept { machine::complain(text, length); }

}  // namespace txsync::inline TXSYNC_BACKEND::preload
