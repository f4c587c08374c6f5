// SPDX-License-Identifier: Apache-2.0
// under_policy POLICY LIBRARY PROGRAM ARGS...: runs a program under the preloaded library with all its locks of one
// algorithm, and ends as it does. The least that a launcher has to do: it makes the file and answers the requests.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string>

#include "channel/channel.hpp"
#include "observe/thread_block.hpp"
#include "policy/packed.hpp"

using namespace txsync;
using channel::site_request;

namespace {

constexpr std::size_t header_bytes = std::size_t{1} << 20;
static_assert(sizeof(channel::head) <= header_bytes);
constexpr std::size_t block_bytes = std::size_t{16} << 20;  // more than enough; pages that nobody touches cost nothing
constexpr std::uint32_t block_limit = 256;

bool parse(const std::string& name, policy::packed& out) {
  out = {policy::lock_kind::mutex, policy::rwlock_kind::rwlock, policy::spinlock_kind::tatas, true,
         policy::elision_kind::off};
  if (name == "spin") out.lock = policy::lock_kind::spin;
  if (name == "tatas") out.lock = policy::lock_kind::tatas;
  if (name == "ticket") out.lock = policy::lock_kind::ticket;
  if (name == "fifo-ticket") out.lock = policy::lock_kind::fifo_ticket;
  if (name == "priority-tatas") out.lock = policy::lock_kind::priority_tatas;
  if (name == "as-mutex") out.rwlock = policy::rwlock_kind::as_mutex;
  if (name == "as-ticket") out.rwlock = policy::rwlock_kind::as_mutex, out.lock = policy::lock_kind::ticket;
  if (name == "as-tatas") out.rwlock = policy::rwlock_kind::as_mutex, out.lock = policy::lock_kind::tatas;
  if (name == "warm") out.lock = policy::lock_kind::ticket, out.warm_up = policy::warm_up_kind::standard;
  if (name == "libc") out = {policy::lock_kind::libc, policy::rwlock_kind::libc, policy::spinlock_kind::libc, true};
  if (name == "elide") out.elision = policy::elision_kind::standard;
  if (name == "uncounted") out.counting = false;
  if (name == "eager-uncounted") out.elision = policy::elision_kind::eager, out.counting = false;
  return name == "counting" || !out.counting || out.elision != policy::elision_kind::off || name == "libc" ||
         out.lock != policy::lock_kind::mutex || out.rwlock != policy::rwlock_kind::rwlock;
}

bool learns(const policy::packed& policy) {
  return policy.elision != policy::elision_kind::off || policy.warm_up != policy::warm_up_kind::unset;
}

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

channel::head* make_file(const char* path, policy::packed policy) {
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const std::size_t bytes = header_bytes + block_limit * block_bytes;
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* const address = mmap(nullptr, header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (address == MAP_FAILED) return nullptr;
  auto* const made = new (address) channel::head;
  made->magic = channel::head::magic_number;
  made->version = channel::head::current_version;
  made->default_policy = policy.word();
  made->is_one_policy = 1;
  made->block_limit = block_limit;
  made->block_bytes = block_bytes;
  made->block_layout = observe::layout_of_blocks;
  made->first_block = header_bytes;
  made->launcher_alive.store(now_ns());
  return made;
}

void answer_all(channel::head& file, policy::packed policy) {
  static std::uint32_t sites = 0;
  for (site_request& one : file.site_requests) {
    const std::uint32_t state = one.state.load(std::memory_order_acquire);
    if ((state & site_request::turn_bits) != site_request::asked) continue;
    one.site = sites % 1000 + 1;
    ++sites;
    one.policy = policy.word();
    // As of most calls: the innermost one decides. Sites that learn are left apart.
    if (one.by == channel::asked_by::calls && !learns(policy)) one.frames = 1;
    one.state.store(state - site_request::asked + site_request::answered, std::memory_order_release);
    syscall(SYS_futex, &one.state, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  file.launcher_alive.store(now_ns());
}

/// By the numbers that each claim of a slot counts up.
std::uint32_t site_requests_in(const channel::head& file) {
  std::uint32_t sum = 0;
  for (const site_request& one : file.site_requests) sum += one.state.load() / site_request::number;
  return sum;
}

}  // namespace

int main(int count, char** words) {
  policy::packed policy;
  if (count < 4 || !parse(words[1], policy)) {
    std::fputs("under_policy POLICY LIBRARY PROGRAM ARGS...\n", stderr);
    return 2;
  }
  const std::string path = "/tmp/txsync-test-" + std::to_string(getpid());
  channel::head* const file = make_file(path.c_str(), policy);
  if (file == nullptr) {
    std::perror("under_policy: the file");
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) {
    setenv("TXSYNC_CHANNEL", path.c_str(), 1);
    setenv("LD_PRELOAD", words[2], 1);
    execv(words[3], words + 3);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    answer_all(*file, policy);
    usleep(200);
  }
  unlink(path.c_str());
  if (WIFSIGNALED(status)) std::fprintf(stderr, "under_policy: ended by signal %d\n", WTERMSIG(status));
  // Where nothing is counted, nothing is learnt, and no site differs, there is nothing to ask.
  if (words[1] == std::string("uncounted") && site_requests_in(*file) != 0) {
    std::fprintf(stderr, "under_policy: %u requests, though the answer was known\n", site_requests_in(*file));
    return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
