// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <sys/random.h>
#include <sys/utsname.h>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#include <txsync/machine/environment.hpp>

#include "../seed.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

const char* environment(const char* name) noexcept { return secure_getenv(name); }

namespace {

/// 0: not asked for yet. Threads that ask at the same time may get different seeds, the last of which stays. The kernel
/// is not asked by getrandom(), which is a cancellation point.
constinit std::atomic<std::uint64_t> known_seed{0};

[[gnu::noinline]] std::uint64_t find_seed() noexcept {
  const int saved_errno = errno;
  std::uint64_t seed = 0;
  if (const std::optional<std::uint64_t> given = detail::seed_from_environment()) {
    seed = *given;
  } else if (syscall(SYS_getrandom, &seed, sizeof seed, GRND_NONBLOCK) != static_cast<long>(sizeof seed)) {
    seed = static_cast<std::uint64_t>(std::time(nullptr));
  }
  errno = saved_errno;
  if (seed == 0) seed = 1;                            // 1 is as good as any seed, and 0 means "not asked for yet"
  known_seed.store(seed, std::memory_order_relaxed);  // relaxed: a number that orders nothing
  return seed;
}

}  // namespace

std::uint64_t random_seed() noexcept {
  const std::uint64_t known = known_seed.load(std::memory_order_relaxed);  // relaxed: as above
  return known != 0 ? known : find_seed();
}

const char* backend_name() noexcept { return "native"; }

const char* kernel_version() noexcept {
  static const auto text = [] {
    struct {
      char chars[160];
    } made{};
    utsname names{};
    uname(&names);
    std::snprintf(made.chars, sizeof made.chars, "%s %s", names.sysname, names.release);
    return made;
  }();
  return text.chars;
}

const char* libc_version() noexcept {
#if defined(__GLIBC__)
  static const auto text = [] {
    struct {
      char chars[64];
    } made{};
    std::snprintf(made.chars, sizeof made.chars, "glibc %s", gnu_get_libc_version());
    return made;
  }();
  return text.chars;
#else
  return "unknown libc";
#endif
}

void enter_phase(phase) noexcept {}

void complain(const char* text, std::size_t length) noexcept {
  const int saved_errno = errno;
  (void)syscall(SYS_write, STDERR_FILENO, text, length);  // write() itself is a cancellation point
  errno = saved_errno;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
