// SPDX-License-Identifier: Apache-2.0
// What identity.hpp declares about processes and their memory.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>

#include <txsync/machine/thread.hpp>

#include "channel/not_cancelled.hpp"
#include "identity.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

/// Reads /proc/PID/maps letter by letter (proc_pid_maps(5)): "begin-end rwxs ...", addresses in hexadecimal.
class mapping_search {
 public:
  explicit mapping_search(std::uintptr_t address) noexcept : address_(address) {}

  void read(char letter) noexcept {
    if (letter == '\n') {
      *this = mapping_search(address_, answer_);
      return;
    }
    ++column_after_space_;
    if (letter == ' ') ++spaces_, column_after_space_ = 0;
    if (spaces_ == 0) read_address(letter);
    constexpr unsigned rights = 4;
    if (spaces_ == 1 && column_after_space_ == rights && begin_ <= address_ && address_ < value_)
      answer_ = letter == 's' ? answer::shared : answer::own;
  }

  enum class answer : std::uint8_t { none, own, shared };
  answer found() const noexcept { return answer_; }

 private:
  mapping_search(std::uintptr_t address, answer known) noexcept : address_(address), answer_(known) {}

  void read_address(char letter) noexcept {
    if (letter == '-') {
      begin_ = value_;
      value_ = 0;
    } else {
      value_ = value_ << 4 | static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
    }
  }

  std::uintptr_t address_;
  answer answer_ = answer::none;
  std::uintptr_t begin_ = 0;
  std::uintptr_t value_ = 0;  // after the hyphen: the end
  unsigned spaces_ = 0;
  unsigned column_after_space_ = 0;
};

mapping_search::answer find_mapping(std::uintptr_t address) noexcept {
  const channel::not_cancelled whole;
  mapping_search search(address);
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return search.found();
  char part[512];  // on what may be a small stack
  while (search.found() == mapping_search::answer::none) {
    const ssize_t bytes = read(file, part, sizeof part);
    if (bytes <= 0) break;
    for (ssize_t i = 0; i < bytes; ++i) search.read(part[i]);
  }
  close(file);
  return search.found();
}

}  // namespace

std::uint32_t kernels_thread_number() noexcept { return static_cast<std::uint32_t>(gettid()); }

namespace {

/// The calling process' number, and in the high half the count of forks plus one.
std::uint64_t known_process() noexcept {
  static constinit std::atomic<std::uint64_t> known{0};
  const std::uint64_t forks = std::uint64_t{machine::fork_count()} + 1;
  const std::uint64_t word = known.load(std::memory_order_relaxed);  // relaxed: the word is all there is
  if (word >> 32 == forks) [[likely]]
    return word;
  const pid_t told = getpid();
  // A sandbox hides it: two programs that share memory there are not distinguished.
  const std::uint32_t number = told > 0 ? static_cast<std::uint32_t>(told) : first_own_number;
  const std::uint64_t word_now = forks << 32 | number;
  known.store(word_now, std::memory_order_relaxed);
  return word_now;
}

}  // namespace

std::uint32_t process_number() noexcept { return static_cast<std::uint32_t>(known_process()); }

std::uint16_t process_mark() noexcept {
  constexpr std::uint32_t fork_bits = 0x7;
  constexpr unsigned id_bits = 12;
  const std::uint64_t process = known_process();
  const auto number = static_cast<std::uint32_t>(process);
  const auto forks = static_cast<std::uint32_t>(process >> 32);
  const std::uint32_t id = (number ^ number >> id_bits) & ((1u << id_bits) - 1);
  const std::uint32_t mark = (forks & fork_bits) << id_bits | id;
  return static_cast<std::uint16_t>(mark != 0 ? mark : 1);
}

bool is_shared_memory(const void* address) noexcept {
  const mapping_search::answer answer = find_mapping(reinterpret_cast<std::uintptr_t>(address));
  if (answer != mapping_search::answer::none) return answer == mapping_search::answer::shared;
  return machine::fork_count() == 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
