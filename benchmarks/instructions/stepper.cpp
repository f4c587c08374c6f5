// SPDX-License-Identifier: Apache-2.0
#include "instructions/stepper.hpp"

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "base/descriptor.hpp"

#if defined(__x86_64__)
#include <sys/rseq.h>
#include <sys/user.h>

#include <cstddef>
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr std::uint64_t max_steps = 1'000'000;  // from one pair to the next
constexpr int exit_not_traced = 3;

/// Shared with the child, so that a step needs no look at its registers.
class shared_word {
 public:
  explicit shared_word(int file) {
    void* const page =
        file < 0 ? MAP_FAILED : mmap(nullptr, sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) throw std::runtime_error("no memory that two processes share");
    word_ = static_cast<volatile unsigned*>(page);
  }
  ~shared_word() { munmap(const_cast<unsigned*>(word_), sizeof(unsigned)); }
  shared_word(const shared_word&) = delete;
  shared_word& operator=(const shared_word&) = delete;

  volatile unsigned* get() const noexcept { return word_; }

 private:
  volatile unsigned* word_;
};

/// Ends with its child, whatever throws.
class traced_child {
 public:
  explicit traced_child(pid_t id) noexcept : id_(id) {}
  ~traced_child() {
    if (!ended_) {
      kill(id_, SIGKILL);
      waitpid(id_, nullptr, 0);
    }
  }
  traced_child(const traced_child&) = delete;
  traced_child& operator=(const traced_child&) = delete;

  /// The signal that stopped it; 0: it ended, with exit_status().
  int wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0) {
      if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
    }
    if (WIFSTOPPED(status)) return WSTOPSIG(status);
    ended_ = true;
    exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return 0;
  }
  void go_on() const { ptrace(PTRACE_CONT, id_, nullptr, nullptr); }
  void step(int signal) {
    if (ptrace(PTRACE_SINGLESTEP, id_, nullptr, signal) != 0)
      throw no_single_steps(std::string("this system does not single-step a process: ") + std::strerror(errno));
  }
  int exit_status() const noexcept { return exit_status_; }
  pid_t id() const noexcept { return id_; }

 private:
  pid_t id_;
  bool ended_ = false;
  int exit_status_ = 0;
};

/// A step is an interruption, which sends a restartable sequence to its other way out (machine/restartable.hpp). The
/// kernel knows of a sequence by a word of the thread; with 0 there, the thread goes on as if nothing had interrupted
/// it.
class sequence_word {
 public:
#if defined(__x86_64__)
  explicit sequence_word(pid_t child) : child_(child) {
    if (__rseq_size == 0) return;  // the C library has registered none
    errno = 0;
    const long thread = ptrace(PTRACE_PEEKUSER, child, offsetof(user_regs_struct, fs_base), nullptr);
    if (errno == 0) address_ = thread + __rseq_offset + static_cast<long>(offsetof(rseq, rseq_cs));
  }
  void clear() const {
    if (address_ != 0) ptrace(PTRACE_POKEDATA, child_, address_, 0);
  }

 private:
  pid_t child_;
  long address_ = 0;
#else
  explicit sequence_word(pid_t) {}  // elsewhere releases are no such sequences
  void clear() const {}
#endif
};

/// Becomes a new program, because some locks do more in the child of a fork.
[[noreturn]] void start_stepped(const std::vector<std::string>& words) {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(exit_not_traced);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
  _exit(127);
}

/// The steps until the next change of the word; of a child that has ended none.
std::uint64_t steps_while(traced_child& child, const sequence_word& sequence, const volatile unsigned& counts,
                          unsigned value, const char* name) {
  int signal = 0;
  for (std::uint64_t steps = 0; steps < max_steps; ++steps) {
    if (counts != value) return steps;
    if (value == 1) sequence.clear();
    child.step(signal);
    signal = child.wait();
    if (signal == 0) throw std::runtime_error(std::string(name) + ": the child ended");
    if (signal == SIGTRAP) signal = 0;
  }
  throw std::runtime_error(std::string(name) + ": does not end when it is single-stepped");
}

}  // namespace

void be_stepped(const uncontended_path& path, unsigned pairs, int counts_file) {
  const shared_word counts(counts_file);
  path.run(counts.get(), pairs, [] { std::raise(SIGSTOP); });
}

std::vector<std::uint64_t> count_instructions(const uncontended_path& path, unsigned pairs,
                                              std::vector<std::string> command) {
  const base::descriptor file(memfd_create("counts", 0));  // stays open in the program that is stepped
  if (file.get() < 0 || ftruncate(file.get(), sizeof(unsigned)) != 0)
    throw std::runtime_error(std::string("no memory that two processes share: ") + std::strerror(errno));
  const shared_word counts(file.get());
  command.insert(command.end(),
                 {"--path", path.name, "--pairs", std::to_string(pairs), "--counts", std::to_string(file.get())});
  const pid_t id = fork();
  if (id < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (id == 0) start_stepped(command);
  traced_child child(id);
  int stopped_by = child.wait();
  if (stopped_by == SIGTRAP) {  // the new program begins
    child.go_on();
    stopped_by = child.wait();
  }
  if (stopped_by != SIGSTOP) {
    if (child.exit_status() == exit_not_traced)
      throw no_single_steps("this system does not let a process be traced (ptrace)");
    throw std::runtime_error(std::string(path.name) + ": the child ended with status " +
                             std::to_string(child.exit_status()));
  }
  ptrace(PTRACE_SETOPTIONS, id, nullptr, PTRACE_O_EXITKILL);
  const sequence_word sequence(id);
  std::vector<std::uint64_t> counted;
  for (unsigned i = 0; i < pairs; ++i) {
    steps_while(child, sequence, *counts.get(), 0, path.name);
    counted.push_back(steps_while(child, sequence, *counts.get(), 1, path.name));
  }
  return counted;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
