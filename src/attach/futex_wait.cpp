// SPDX-License-Identifier: Apache-2.0
#include "attach/futex_wait.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "attach/loaded_files.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

/// The C library's own calls are few; what lies further out is the program.
constexpr std::size_t max_library_frames = 8;
/// Of the values that a mutex' word may have, the one at which threads sleep; robust and priority-inheriting ones have
/// the owner's number there.
constexpr std::uint32_t locked_with_waiters = 2;
constexpr int robust_bit = 16;
constexpr int inheriting_bit = 32;
constexpr int known_kind_bits = 0x3ff;

/// pthread_mutex_t of glibc, the part that all 64-bit processors share.
struct mutex_words {
  std::uint32_t lock;
  std::uint32_t count;
  std::int32_t owner;
  std::uint32_t users;
  std::int32_t kind;
};

/// pthread_rwlock_t of glibc, likewise.
struct rwlock_words {
  std::uint32_t readers;  // three bits of state, then the number of readers
  std::uint32_t writers;
  std::uint32_t phase_futex;
  std::uint32_t writers_futex;
  std::uint32_t unused[2];
  std::int32_t writer;
};
constexpr std::uint32_t reader_shift = 3;
constexpr std::uint32_t write_phase_bit = 1;

bool is_thread(int number, std::span<const task> threads) {
  return number > 0 &&
         std::any_of(threads.begin(), threads.end(), [number](const task& one) { return one.inner_id == number; });
}

template <class Words>
bool read_words(const target& of, std::uint64_t address, Words& into) {
  return read_memory(of.process, address, &into, sizeof into) == sizeof into;
}

std::string_view without_underscores(std::string_view name) {
  const std::size_t begin = name.find_first_not_of('_');
  return begin == std::string_view::npos ? name : name.substr(begin);
}

struct known_call {
  std::string_view begin;  // of the name, without underscores before it
  wait_kind kind;
};
constexpr known_call known_calls[] = {
    {"pthread_cond_", wait_kind::condition},  {"cnd_", wait_kind::condition},
    {"pthread_mutex_", wait_kind::mutex},     {"mtx_", wait_kind::mutex},
    {"lll_lock_wait", wait_kind::mutex},      {"pthread_rwlock_", wait_kind::rwlock},
    {"sem_", wait_kind::semaphore},           {"new_sem_", wait_kind::semaphore},
    {"pthread_barrier_", wait_kind::barrier}, {"pthread_join", wait_kind::join},
    {"pthread_clockjoin", wait_kind::join},   {"pthread_timedjoin", wait_kind::join},
    {"thrd_join", wait_kind::join},           {"pthread_once", wait_kind::once},
    {"cxa_guard_acquire", wait_kind::once},
};

/// The owner of a mutex; `object.owner` stays 0 where it is not believed. False: it does not look like a mutex.
bool put_mutex_owner(const target& of, const futex_wait& wait, std::span<const task> threads, waited_object& object) {
  mutex_words words{};
  if (!read_words(of, wait.word, words) || (words.kind & ~known_kind_bits) != 0) return false;
  const bool number_in_word = wait.operation == FUTEX_LOCK_PI || wait.operation == FUTEX_LOCK_PI2 ||
                              (words.kind & (robust_bit | inheriting_bit)) != 0;
  const int owner = number_in_word ? static_cast<int>(words.lock & FUTEX_TID_MASK) : words.owner;
  // A mutex that was given up meanwhile may still hold the number of its last owner.
  if (words.lock == 0 || !is_thread(owner, threads)) return false;
  object.owner = owner;
  return number_in_word || wait.expected == locked_with_waiters;
}

void put_rwlock(const target& of, const futex_wait& wait, std::span<const task> threads, waited_object& object) {
  // Threads sleep at one of two words; the object is aligned to 8 bytes.
  object.address =
      wait.word - (wait.word % 8 == 0 ? offsetof(rwlock_words, phase_futex) : offsetof(rwlock_words, writers_futex));
  rwlock_words words{};
  if (!read_words(of, object.address, words)) return;
  if (is_thread(words.writer, threads)) {
    object.owner = words.writer;
  } else if ((words.readers & write_phase_bit) == 0) {
    object.readers = words.readers >> reader_shift;
  }
}

}  // namespace

const char* to_string(wait_kind kind) noexcept {
  switch (kind) {
    case wait_kind::mutex:
      return "mutex";
    case wait_kind::rwlock:
      return "rwlock";
    case wait_kind::condition:
      return "condition";
    case wait_kind::semaphore:
      return "semaphore";
    case wait_kind::barrier:
      return "barrier";
    case wait_kind::join:
      return "join";
    case wait_kind::once:
      return "once";
    case wait_kind::futex:
      break;
  }
  return "futex";
}

std::optional<futex_wait> futex_wait_in(const blocked_call& call) noexcept {
  if (call.number != SYS_futex) return std::nullopt;
  futex_wait made{call.arguments[0], static_cast<int>(call.arguments[1]) & FUTEX_CMD_MASK,
                  static_cast<std::uint32_t>(call.arguments[2])};
  switch (made.operation) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
      return made;
    default:
      return std::nullopt;
  }
}

wait_kind kind_of(std::span<const named_frame> calls) {
  // The innermost that is known decides: a condition wait that takes its mutex again waits for the mutex.
  for (const named_frame& one : calls.first(std::min(calls.size(), max_library_frames))) {
    const std::string_view name = without_underscores(one.function);
    for (const known_call& known : known_calls) {
      if (name.starts_with(known.begin)) return known.kind;
    }
  }
  return wait_kind::futex;
}

waited_object object_of(const target& of, const futex_wait& wait, wait_kind by_calls, std::span<const task> threads) {
  waited_object made{by_calls, wait.word, 0, 0};
  switch (by_calls) {
    case wait_kind::mutex:
      (void)put_mutex_owner(of, wait, threads, made);
      break;
    case wait_kind::futex:
      if (put_mutex_owner(of, wait, threads, made)) {
        made.kind = wait_kind::mutex;
      } else {
        made.owner = 0;
      }
      break;
    case wait_kind::rwlock:
      put_rwlock(of, wait, threads, made);
      break;
    case wait_kind::condition:
      // Two words to sleep at, the first one 40 bytes behind the begin of pthread_cond_t.
      made.address = wait.word - (wait.word % 8 == 0 ? 40 : 44);
      break;
    default:
      break;
  }
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
