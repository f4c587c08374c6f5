// SPDX-License-Identifier: Apache-2.0
// counting_program DEED...: does each deed in turn. Asks and counts in the launcher's file as the preloaded library
// would.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <thread>

#include <txsync/machine/park.hpp>
#include <txsync/observe/counters.hpp>

#include "channel/channel.hpp"
#include "observe/blocks.hpp"

namespace machine = txsync::machine;
namespace observe = txsync::observe;
namespace channel = txsync::channel;

// The places of locks. Not inlined, and with a body of their own each, so that they stay apart.
namespace shop {
[[gnu::noinline]] int take_order(int number) { return number * 3 + std::rand(); }
struct bills {
  [[gnu::noinline]] static int write(int number) { return number * 5 + std::rand(); }
};
struct SpecialMutex {
  [[gnu::noinline]] static int lock(int number) { return number * 7 + std::rand(); }
};

// Code that takes time, called by one function.
[[gnu::noinline]] unsigned count_stock(unsigned start) {
  volatile unsigned sum = start;
  for (unsigned i = 0; i < 1'000'000; ++i) sum = sum + i;
  return sum;
}
[[gnu::noinline]] void close_day() {
  unsigned sum = 0;
  for (const std::clock_t begin = std::clock(); std::clock() - begin < 60 * CLOCKS_PER_SEC / 1000;)
    sum = count_stock(sum);
}
}  // namespace shop

namespace {

channel::head* file = nullptr;

observe::block_source::taken take_block(std::size_t) noexcept {
  const std::uint32_t number = file->blocks_given.fetch_add(1);
  if (number >= file->block_limit) return {};
  return {reinterpret_cast<char*>(file) + file->first_block + number * file->block_bytes, number};
}
constexpr observe::block_source blocks = {take_block, nullptr, nullptr};

void open_channel() {
  const int descriptor = open(std::getenv(channel::file_variable), O_RDWR);
  struct stat about{};
  if (descriptor < 0 || fstat(descriptor, &about) != 0) std::exit(90);
  void* const mapped = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (mapped == MAP_FAILED) std::exit(91);
  file = static_cast<channel::head*>(mapped);
  if (file->magic != channel::head::magic_number || file->version != channel::head::current_version) std::exit(92);
  file->processes.fetch_add(1);
  observe::use_blocks_of(blocks);
}

/// A frame within a function: behind its first instruction.
template <class Function>
void add_frame(channel::place& where, Function* function) {
  Dl_info info{};
  link_map* map = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(function) + 1;
  dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  channel::frame& one = where.frames[where.count++];
  one.offset = address - map->l_addr;
  std::strncpy(one.module, "/proc/self/exe", sizeof one.module - 1);
}

channel::place orders() {
  channel::place made;
  add_frame(made, shop::take_order);
  return made;
}

channel::place wrapped_bills() {
  channel::place made;
  add_frame(made, shop::SpecialMutex::lock);
  add_frame(made, shop::bills::write);
  return made;
}

channel::place nowhere() {
  channel::place made;
  made.count = 1;
  made.frames[0].offset = 0x1234;
  std::strcpy(made.frames[0].module, "/nowhere/libgone.so.3");
  return made;
}

struct answer {
  std::uint32_t site, policy;
};

channel::question& claim() {
  for (;;) {
    for (channel::question& one : file->questions) {
      std::uint32_t seen = one.state;
      if ((seen & channel::question::turn_bits) != channel::question::free) continue;
      const std::uint32_t next = seen + channel::question::number + channel::question::claimed;
      if (one.state.compare_exchange_strong(seen, next)) return one;
    }
    std::this_thread::yield();
  }
}

channel::question& pose(const channel::place& where, channel::object_kind kind, std::uint32_t process) {
  channel::question& one = claim();
  one.process = process;
  one.kind = kind;
  one.by = channel::asked_by::calls;
  one.where = where;
  one.state += channel::question::asked - channel::question::claimed;
  ++file->doorbell;
  machine::unpark_shared(file->doorbell, 1);
  return one;
}

answer ask(const channel::place& where, channel::object_kind kind = channel::object_kind::mutex) {
  channel::question& one = pose(where, kind, static_cast<std::uint32_t>(getpid()));
  for (std::uint32_t seen = one.state; (seen & channel::question::turn_bits) != channel::question::answered;
       seen = one.state)
    (void)machine::park_shared(one.state, seen);
  const answer got{one.site, one.policy};
  one.state -= channel::question::answered;
  return got;
}

/// `times` acquisitions, of which `waits` had to wait a million cycles each. The first 15 of a thread are counted one
/// by one.
void count(std::uint32_t site, unsigned times, unsigned waits) {
  int lock = 0;
  for (unsigned i = 0; i < times; ++i) {
    if (--observe::detail::until_sample <= 0 && observe::detail::sample(site, &lock)) observe::detail::hold_ends(&lock);
  }
  for (unsigned i = 0; i < waits; ++i) observe::detail::waited(site, nullptr, 1'000'000);
}

void tell(channel::notice_kind kind, std::uint32_t site, std::uint32_t other) {
  const std::uint32_t number = file->notices_given++;
  if (number >= channel::head::max_notices) return;
  channel::notice& one = file->notices[number];
  one.process = static_cast<std::uint32_t>(getpid());
  one.site = site;
  one.other_site = other;
  one.where = orders();
  one.kind.store(static_cast<std::uint32_t>(kind));
}

void tell_all() {
  const std::uint32_t site = ask(orders()).site;
  const std::uint32_t other = ask(wrapped_bills()).site;
  for (std::uint32_t kind = 1; kind <= 6; ++kind) tell(static_cast<channel::notice_kind>(kind), site, other);
  tell(channel::notice_kind::double_unlock, site, other);                              // once more
  tell(channel::notice_kind::double_unlock, 999'999, 0);                               // of a site that is not known
  for (int i = 0; i < 200; ++i) tell(channel::notice_kind::relock_by_owner, site, 0);  // more than there is room for
}

/// Fills all slots with answers that nobody fetches, as of a process that was killed meanwhile.
void abandon_questions() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  for (unsigned i = 0; i < channel::head::questions_at_once; ++i) {
    pose(orders(), channel::object_kind::mutex, static_cast<std::uint32_t>(child));
  }
}

void ask_from_many_threads() {
  std::thread all[8];
  for (std::thread& one : all) {
    one = std::thread([] {
      for (int i = 0; i < 200; ++i) {
        channel::place where = orders();
        where.frames[0].offset += static_cast<unsigned>(i % 3);
        if (ask(where).site == 0) std::_Exit(93);
      }
    });
  }
  for (std::thread& one : all) one.join();
}

void count_in_child() {
  const pid_t child = fork();
  if (child == 0) {
    observe::forget_blocks();
    count(ask(orders()).site, 5, 2);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

void close_day_in_child() {
  const pid_t child = fork();
  if (child == 0) {
    shop::close_day();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

void leave_child_behind() {
  if (fork() != 0) return;
  for (const int descriptor : {0, 1, 2}) close(descriptor);
  alarm(20);
  pause();
}

/// Leaves the program's session, as daemons do.
void leave_daemon_behind() {
  if (fork() != 0) return;
  setsid();
  leave_child_behind();
}

void leave_stubborn_child_behind() {
  signal(SIGTERM, SIG_IGN);
  leave_child_behind();
}

/// One more than the library can tell apart.
void ask_for_many_places() {
  channel::place where = nowhere();
  std::uint32_t last = 0;
  std::uint32_t before = 0;
  for (unsigned i = 0; i < channel::max_sites + 1; ++i) {
    before = last;
    where.frames[0].offset = i;
    last = ask(where).site;
  }
  std::printf("%u %u\n", before, last);
}

[[noreturn]] void wait_for_signal() {
  signal(SIGTERM, [](int) { _exit(15); });
  signal(SIGINT, [](int) { _exit(16); });
  kill(getppid(), SIGUSR1);  // ready
  for (;;) pause();
}

[[noreturn]] void be_stubborn() {
  signal(SIGTERM, SIG_IGN);
  for (;;) pause();
}

void chatter() {
  for (int i = 0; i < 200'000; ++i) std::printf("line %d\n", i);
}

void print_both() {
  std::printf("out\n");
  std::fflush(stdout);
  std::fprintf(stderr, "err\n");
}

using deed = void (*)();

const std::map<std::string, deed> deeds = {
    {"open", open_channel},
    {"orders", [] { count(ask(orders()).site, 4, 3); }},
    {"bills", [] { count(ask(wrapped_bills(), channel::object_kind::rwlock).site, 8, 7); }},
    {"nowhere", [] { count(ask(nowhere(), channel::object_kind::spinlock).site, 1, 0); }},
    {"condition", [] { observe::detail::condition_waited(ask(orders()).site, 1000); }},
    {"policies", [] { std::printf("%u %u\n", ask(orders()).policy, file->default_policy); }},
    {"one-policy", [] { std::printf("%u\n", file->is_one_policy); }},
    {"notices", tell_all},
    {"abandon", abandon_questions},
    {"threads", ask_from_many_threads},
    {"fork", count_in_child},
    {"count", shop::close_day},
    {"count-in-thread", [] { std::thread(shop::close_day).join(); }},
    {"count-in-child", close_day_in_child},
    {"stay", leave_child_behind},
    {"daemon", leave_daemon_behind},
    {"stay-stubbornly", leave_stubborn_child_behind},
    {"many-places", ask_for_many_places},
    {"print", print_both},
    {"chatter", chatter},
    {"stdin", [] { std::printf("%d\n", std::getchar()); }},
    {"environment", [] { std::printf("%s|%s\n", std::getenv("LD_PRELOAD"), std::getenv("SHOP")); }},
    {"placeless", [] { file->locks_without_place += 7; }},
    {"nothing", [] {}},
    {"exit3", [] { std::exit(3); }},
    {"_exit4", [] { _exit(4); }},
    {"kill9", [] { raise(SIGKILL); }},
    {"abort",
     [] {
       signal(SIGABRT, SIG_DFL);
       raise(SIGABRT);
     }},
    {"wait-for-signal", wait_for_signal},
    {"stubborn", be_stubborn},
    {"pipe-signal", [] { std::printf("%d\n", signal(SIGPIPE, SIG_DFL) == SIG_DFL ? 1 : 0); }},
};

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    deeds.at(argv[i])();
    std::fflush(stdout);
  }
}
