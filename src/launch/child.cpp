// SPDX-License-Identifier: Apache-2.0
#include "launch/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <txsync/machine/cpu.hpp>

#include "launch/executable.hpp"
#include "launch/handles.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr int look_every_ms = 50;
constexpr std::uint64_t grace_ns = 2 * ns_per_s;

[[noreturn]] void out_of(const char* what) {
  throw std::runtime_error(std::string("cannot make ") + what + ": " + std::strerror(errno));
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t made;
  sigemptyset(&made);
  for (const int one : signals) sigaddset(&made, one);
  return made;
}

/// While it lives, the signals that are for the program come out of a file descriptor.
class program_signals {
 public:
  program_signals() {
    const sigset_t passed_on = set_of({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
    pthread_sigmask(SIG_BLOCK, &passed_on, &before_);
    // An ignored SIGCHLD would take the program's end away from us.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_action_);
    file_ = descriptor(signalfd(-1, &passed_on, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  program_signals(const program_signals&) = delete;
  program_signals& operator=(const program_signals&) = delete;
  ~program_signals() {
    sigaction(SIGCHLD, &child_action_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  int file() const noexcept { return file_.get(); }
  const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t before_{};
  struct sigaction child_action_{};
  descriptor file_;
};

struct pipe_ends {
  descriptor reading, writing;

  static pipe_ends make() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) out_of("a pipe");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return {descriptor(ends[0]), descriptor(ends[1])};
  }
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> made;
  made.reserve(texts.size() + 1);
  for (const std::string& one : texts) made.push_back(const_cast<char*>(one.c_str()));  // execve() leaves them alone
  made.push_back(nullptr);
  return made;
}

/// What happens between fork and exec.
class spawn_plan {
 public:
  spawn_plan(bool own_group, const sigset_t& mask, int output) {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    if (output >= 0) {
      posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
      posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
      posix_spawn_file_actions_adddup2(&files_, output, STDERR_FILENO);
    }
    // The command ignores SIGPIPE; the program should not inherit that.
    const sigset_t standard = set_of({SIGPIPE});
    posix_spawnattr_setsigdefault(&attributes_, &standard);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    if (own_group) flags = static_cast<short>(flags | POSIX_SPAWN_SETPGROUP);  // of its own number
    posix_spawnattr_setflags(&attributes_, flags);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;
  ~spawn_plan() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// 0, or why not.
  int start(const std::string& path, const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment, pid_t& process) const {
    const std::vector<char*> argument_list = pointers_to(arguments);
    const std::vector<char*> environment_list = pointers_to(environment);
    return posix_spawn(&process, path.c_str(), &files_, &attributes_, argument_list.data(), environment_list.data());
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

/// So that all that it starts can be ended with it; else it stays in the terminal's foreground.
bool has_own_group(const child_request& what) { return what.capture || what.limit_seconds.has_value(); }

pid_t start(const child_request& what, const spawn_plan& plan) {
  pid_t process = 0;
  int error = plan.start(what.path, what.arguments, what.environment, process);
  if (error == ENOEXEC) {  // a script without "#!": as execvp() does it
    std::vector<std::string> arguments = {"sh", what.path};
    arguments.insert(arguments.end(), what.arguments.begin() + 1, what.arguments.end());
    error = plan.start("/bin/sh", arguments, what.environment, process);
  }
  if (error != 0) {
    throw cannot_start(error == ENOENT ? 127 : 126, what.path + " cannot be started: " + std::strerror(error));
  }
  return process;
}

/// Says by a file descriptor when a process has ended; the process stays a zombie.
class end_watch {
 public:
  explicit end_watch(pid_t process) : file_(eventfd(0, EFD_CLOEXEC)) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this, process] {
      siginfo_t info;
      while (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
      }
      const std::uint64_t one = 1;
      (void)!write(file_.get(), &one, sizeof one);
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  end_watch(const end_watch&) = delete;
  end_watch& operator=(const end_watch&) = delete;
  ~end_watch() { thread_.join(); }

  int file() const noexcept { return file_.get(); }

 private:
  descriptor file_;
  std::thread thread_;
};

class watcher {
 public:
  watcher(const child_request& what, pid_t process, std::uint64_t started_ns, int output, int signals)
      : what_(what),
        process_(process),
        own_group_(has_own_group(what)),
        output_(output),
        signals_(signals),
        started_ns_(started_ns),
        end_(process) {
    if (what.limit_seconds) deadline_ns_ = started_ns_ + static_cast<std::uint64_t>(*what.limit_seconds * 1e9);
  }

  child_end wait() {
    while (!look()) {
      what_.while_waiting();
      keep_limit();
    }
    made_.process = process_;
    made_.ended_at = machine::cycles();
    made_.wall_s = static_cast<double>(machine::clock_ns() - started_ns_) / 1e9;
    read_output();
    rusage used{};
    while (wait4(process_, &made_.wait_status, 0, &used) < 0 && errno == EINTR) {
    }
    made_.user_s = seconds(used.ru_utime);
    made_.system_s = seconds(used.ru_stime);
    // Whoever is left of a program that took too long does not go on behind our back.
    if (made_.timed_out) kill(-process_, SIGKILL);
    cut_output();
    return std::move(made_);
  }

 private:
  static double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }

  /// Waits for something to happen, or a little; true when the program has ended.
  bool look() {
    pollfd files[] = {{end_.file(), POLLIN, 0}, {signals_, POLLIN, 0}, {output_, POLLIN, 0}};
    if (poll(files, 3, timeout_ms()) <= 0) return false;
    if (files[1].revents != 0) pass_on_signals();
    if (files[2].revents != 0) read_output();
    return files[0].revents != 0;
  }

  int timeout_ms() const {
    const std::uint64_t now = machine::clock_ns();
    const std::uint64_t left = deadline_ns_ > now ? (deadline_ns_ - now) / 1'000'000 + 1 : 1;
    return static_cast<int>(std::min<std::uint64_t>(left, look_every_ms));
  }

  void pass_on_signals() {
    signalfd_siginfo got;
    while (read(signals_, &got, sizeof got) == sizeof got) {
      const int signal = static_cast<int>(got.ssi_signo);
      made_.interrupted = signal;
      // What the terminal sends goes to the whole foreground group: the program has it already.
      if (own_group_ || got.ssi_code != SI_KERNEL) kill(own_group_ ? -process_ : process_, signal);
    }
  }

  void keep_limit() {
    if (machine::clock_ns() < deadline_ns_) return;
    kill(-process_, made_.timed_out ? SIGKILL : SIGTERM);
    deadline_ns_ = made_.timed_out ? never : machine::clock_ns() + grace_ns;
    made_.timed_out = true;
  }

  void read_output() {
    if (output_ < 0) return;
    char part[65536];
    for (;;) {
      const ssize_t got = read(output_, part, sizeof part);
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) output_ = -1;  // poll() passes over it
      if (got <= 0) return;
      made_.output.append(part, static_cast<std::size_t>(got));
      if (made_.output.size() > 2 * what_.capture_bytes + sizeof part) cut_output();
    }
  }

  void cut_output() {
    if (made_.output.size() <= what_.capture_bytes) return;
    made_.output.erase(0, made_.output.size() - what_.capture_bytes);
    made_.output_cut = true;
  }

  static constexpr std::uint64_t never = ~std::uint64_t{0};

  const child_request& what_;
  pid_t process_;
  bool own_group_;
  int output_;
  int signals_;
  std::uint64_t started_ns_;
  std::uint64_t deadline_ns_ = never;
  end_watch end_;
  child_end made_;
};

}  // namespace

child_end run_child(const child_request& what) {
  const program_signals signals;
  if (signals.file() < 0) out_of("a descriptor for signals");
  pipe_ends output;
  if (what.capture) output = pipe_ends::make();
  const std::uint64_t started_ns = machine::clock_ns();
  const pid_t process = start(what, spawn_plan(has_own_group(what), signals.before(), output.writing.get()));
  output.writing.reset();
  return watcher(what, process, started_ns, output.reading.get(), signals.file()).wait();
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch
