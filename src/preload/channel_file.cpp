// SPDX-License-Identifier: Apache-2.0
// This process' view of the launcher's file, and the blocks of counters in it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <txsync/machine/environment.hpp>
#include <txsync/machine/memory.hpp>

#include "machine/known_rate.hpp"
#include "observe/blocks.hpp"
#include "sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

// Written before the process has a second thread.
constinit channel* the_file = nullptr;
constinit std::size_t mapped_bytes = 0;

void* take_block() noexcept {
  // relaxed, here and below: a ticket. Not drawn where none is left: the number must not come around.
  if (the_file->blocks_given.load(std::memory_order_relaxed) >= 2 * the_file->block_limit) return nullptr;
  const std::uint32_t number = the_file->blocks_given.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t begin = the_file->first_block + number * the_file->block_bytes;
  if (number >= the_file->block_limit || begin + the_file->block_bytes > mapped_bytes) return nullptr;
  if (number < channel::max_blocks)
    the_file->block_processes[number].store(static_cast<std::uint32_t>(getpid()), std::memory_order_relaxed);
  return reinterpret_cast<char*>(the_file) + begin;
}

/// Has the pages made now: on a full disk a store to a page that is not there ends the program.
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

constexpr observe::block_source blocks_of_file = {take_block, reserve};

/// The counts of the program that this process ran before exec stay; its threads have ended.
void forget_threads_before_exec() noexcept {
  const auto self = static_cast<std::uint32_t>(getpid());
  for (std::atomic<std::uint32_t>& process : the_file->block_processes) {
    std::uint32_t seen = self;
    process.compare_exchange_strong(seen, 0, std::memory_order_relaxed);  // relaxed: a hint for the launcher
  }
}

bool is_ours(const channel& file, std::size_t bytes) noexcept {
  return file.magic == channel::magic_number && file.version == channel::current_version &&
         file.block_bytes >= observe::block_bytes() && file.first_block <= bytes;
}

/// Maps as much of the file as the process may: all, or an eighth of a limit of its address space.
void map_file(int descriptor, std::size_t bytes) noexcept {
  constexpr std::size_t least = sizeof(channel);
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    bytes = std::min<std::size_t>(bytes, std::max<std::size_t>(least, space.rlim_cur / 8));
  for (; bytes >= least; bytes /= 2) {
    void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED) continue;
    the_file = static_cast<channel*>(address);
    mapped_bytes = bytes;
    (void)madvise(address, bytes, MADV_DONTDUMP);
    return;
  }
}

}  // namespace

channel* open_file() noexcept { return the_file; }

policy::packed default_policy() noexcept {
  return {policy::lock_kind::mutex,  policy::rwlock_kind::rwlock, policy::spinlock_kind::tatas, true,
          policy::elision_kind::off, policy::warm_up_kind::off};
}

void say(const char* text, std::size_t length) noexcept { machine::complain(text, length); }

void open_channel() noexcept {
  const char* const path = machine::environment(channel_variable);
  if (path == nullptr || the_file != nullptr) return;
  const int saved_errno = errno;
  const int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat status{};
  if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size >= static_cast<off_t>(sizeof(channel)))
    map_file(descriptor, static_cast<std::size_t>(status.st_size));
  if (descriptor >= 0) close(descriptor);
  errno = saved_errno;
  if (the_file == nullptr) return;
  if (!is_ours(*the_file, static_cast<std::size_t>(status.st_size))) {
    munmap(the_file, mapped_bytes);
    the_file = nullptr;
    return;
  }
  forget_threads_before_exec();
  the_file->processes.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  observe::use_blocks_of(blocks_of_file);
  if (the_file->cycles_per_second != 0) machine::know_cycles_per_second(the_file->cycles_per_second);
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload
