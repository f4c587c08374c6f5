// SPDX-License-Identifier: Apache-2.0
#include "launch/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <txsync/machine/cpu.hpp>

#include "base/descriptor.hpp"
#include "launch/executable.hpp"
#include "launch/family.hpp"
#include "launch/machine_load.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr int look_every_ms = 50;
constexpr std::uint64_t grace_ns = 2 * ns_per_s;

[[noreturn]] void out_of(const char* resource) {
  throw std::runtime_error(std::string("cannot make ") + resource + ": " + std::strerror(errno));
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : signals) sigaddset(&set, one);
  return set;
}

class all_signals_blocked {
 public:
  all_signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;
  ~all_signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Signals that only this process ignores.
sigset_t& ignored_here() {
  static sigset_t set = set_of({});
  return set;
}

/// While it lives, the program's signals arrive on a file descriptor.
class program_signals {
 public:
  program_signals() {
    const sigset_t passed_on = set_of({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
    pthread_sigmask(SIG_BLOCK, &passed_on, &before_);
    // With SIGCHLD ignored, this process could not wait for the program's end.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_action_);
    file_ = base::descriptor(signalfd(-1, &passed_on, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  program_signals(const program_signals&) = delete;
  program_signals& operator=(const program_signals&) = delete;
  ~program_signals() {
    sigaction(SIGCHLD, &child_action_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  int file() const noexcept { return file_.get(); }

  /// In the child, before exec: restores dispositions and mask of this process' caller.
  void leave_to_program() const {
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction now{};
      if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_DFL) continue;
      // Handlers, too: one that ran before exec would be this process' own.
      if (now.sa_handler != SIG_IGN || sigismember(&ignored_here(), signal) == 1) sigaction(signal, &standard, nullptr);
    }
    if (child_action_.sa_handler == SIG_IGN) sigaction(SIGCHLD, &child_action_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_{};
  struct sigaction child_action_{};
  base::descriptor file_;
};

struct pipe_ends {
  base::descriptor reading, writing;

  static pipe_ends make() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) out_of("a pipe");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return {base::descriptor(ends[0]), base::descriptor(ends[1])};
  }
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& one : texts)
    pointers.push_back(const_cast<char*>(one.c_str()));  // execve() does not change them
  pointers.push_back(nullptr);
  return pointers;
}

/// What happens between fork and exec. posix_spawn() does not serve: it cannot leave SIGCHLD ignored, as the caller has
/// it. It also makes the program ignore two signals of the C library.
class spawn_plan {
 public:
  spawn_plan(bool own_group, const program_signals& signals, int input, int output)
      : own_group_(own_group), signals_(signals), input_(input), output_(output) {}

  struct outcome {
    int error = 0;  ///< why exec failed
    pid_t process = 0;
    std::uint64_t started_ns = 0;  ///< machine::clock_ns() right before exec
  };
  outcome start(const std::string& path, const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment) const {
    const std::vector<char*> argument_list = pointers_to(arguments);
    const std::vector<char*> environment_list = pointers_to(environment);
    pipe_ends news = pipe_ends::make();
    outcome start;
    {
      const all_signals_blocked blocked;  // no handler of this process runs in the child
      start.process = fork();
      if (start.process == 0) become(path.c_str(), argument_list.data(), environment_list.data(), news.writing.get());
    }
    if (start.process < 0) throw std::runtime_error(std::string("cannot make a process: ") + std::strerror(errno));
    read_news(news, start);
    return start;
  }

 private:
  struct message {
    std::uint64_t started_ns;
    int error;
  };

  /// In the child of a process with several threads: nothing here allocates or takes a lock.
  [[noreturn]] void become(const char* path, char* const* arguments, char* const* environment, int news) const {
    if (own_group_) setpgid(0, 0);
    int error = output_ < 0 || take_files() ? 0 : errno;
    signals_.leave_to_program();
    if (error == 0) {
      report(news, {machine::clock_ns(), 0});
      execve(path, arguments, environment);
      error = errno;
    }
    report(news, {0, error});
    _exit(127);
  }

  bool take_files() const {
    const int input = input_ >= 0 ? input_ : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0) return false;
    if (input == STDIN_FILENO) fcntl(input, F_SETFD, 0);
    return dup2(output_, STDOUT_FILENO) >= 0 && dup2(output_, STDERR_FILENO) >= 0;
  }

  static void report(int news, const message& sent) { (void)!write(news, &sent, sizeof sent); }

  /// Reads until exec closes the child's end.
  static void read_news(pipe_ends& news, outcome& start) {
    fcntl(news.reading.get(), F_SETFL, 0);
    news.writing.reset();
    message got{};
    for (ssize_t length = 1; length != 0;) {
      length = read(news.reading.get(), &got, sizeof got);
      if (length < 0 && errno != EINTR) break;
      if (length != static_cast<ssize_t>(sizeof got)) continue;
      if (got.started_ns != 0) start.started_ns = got.started_ns;
      start.error = got.error;
    }
    if (start.error == 0) return;
    while (waitpid(start.process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  bool own_group_;
  const program_signals& signals_;
  int input_;
  int output_;
};

/// So that everything it starts can be ended with it. Otherwise it stays in the terminal's foreground.
bool has_own_group(const child_request& request) { return request.capture || request.limit_seconds.has_value(); }

spawn_plan::outcome start(const child_request& request, const spawn_plan& plan) {
  spawn_plan::outcome started = plan.start(request.path, request.arguments, request.environment);
  if (started.error == ENOEXEC) {  // a script without "#!": as execvp() does it
    std::vector<std::string> arguments = {"sh", request.path};
    arguments.insert(arguments.end(), request.arguments.begin() + 1, request.arguments.end());
    started = plan.start("/bin/sh", arguments, request.environment);
  }
  if (started.error != 0) {
    throw cannot_start(started.error == ENOENT ? 127 : 126,
                       request.path + " cannot be started: " + std::strerror(started.error));
  }
  return started;
}

/// Reports by a file descriptor that a process has ended. The process stays a zombie.
class end_watch {
 public:
  explicit end_watch(pid_t process) : file_(eventfd(0, EFD_CLOEXEC)) {
    const all_signals_blocked blocked;
    thread_ = std::thread([this, process] {
      siginfo_t info;
      while (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
      }
      const std::uint64_t increment = 1;
      (void)!write(file_.get(), &increment, sizeof increment);
    });
  }
  end_watch(const end_watch&) = delete;
  end_watch& operator=(const end_watch&) = delete;
  ~end_watch() { thread_.join(); }

  int file() const noexcept { return file_.get(); }

 private:
  base::descriptor file_;
  std::thread thread_;
};

class watcher {
 public:
  watcher(const child_request& request, pid_t process, std::uint64_t started_ns, int output, int signals)
      : request_(request),
        process_(process),
        own_group_(has_own_group(request)),
        output_(output),
        signals_(signals),
        started_ns_(started_ns),
        busy_before_s_(busy_cpu_s()),
        end_(process) {
    if (request.limit_seconds) deadline_ns_ = started_ns_ + static_cast<std::uint64_t>(*request.limit_seconds * 1e9);
  }

  child_end wait() {
    while (!look()) {
      request_.while_waiting();
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
    if (busy_before_s_ != 0)
      made_.others_s = std::max(0.0, busy_cpu_s() - busy_before_s_ - made_.user_s - made_.system_s);
    // Processes that are left of a program that took too long must not go on.
    if (made_.timed_out) kill(-process_, SIGKILL);
    cut_output();
    return std::move(made_);
  }

 private:
  static double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }

  /// Waits until something happens, or for a little; true when the program has ended.
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
      if (got == 0) output_ = -1;  // poll() skips it
      if (got <= 0) return;
      made_.output.append(part, static_cast<std::size_t>(got));
      if (made_.output.size() > 2 * request_.capture_bytes + sizeof part) cut_output();
    }
  }

  void cut_output() {
    if (made_.output.size() <= request_.capture_bytes) return;
    made_.output.erase(0, made_.output.size() - request_.capture_bytes);
    made_.output_cut = true;
  }

  static constexpr std::uint64_t never = ~std::uint64_t{0};

  const child_request& request_;
  pid_t process_;
  bool own_group_;
  int output_;
  int signals_;
  std::uint64_t started_ns_;
  double busy_before_s_;
  std::uint64_t deadline_ns_ = never;
  end_watch end_;
  child_end made_;
};

}  // namespace

void ignore_in_this_process(int signal) {
  struct sigaction before{};
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  if (sigaction(signal, &ignored, &before) == 0 && before.sa_handler != SIG_IGN) sigaddset(&ignored_here(), signal);
}

child_end run_child(const child_request& request) {
  const program_signals signals;
  const std::optional<family> descendants = request.end_family ? std::optional<family>(std::in_place) : std::nullopt;
  if (signals.file() < 0) out_of("a descriptor for signals");
  pipe_ends output;
  if (request.capture) output = pipe_ends::make();
  const spawn_plan::outcome started =
      start(request, spawn_plan(has_own_group(request), signals, request.input, output.writing.get()));
  output.writing.reset();
  child_end ended = watcher(request, started.process, started.started_ns, output.reading.get(), signals.file()).wait();
  if (descendants) descendants->end();
  return ended;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
