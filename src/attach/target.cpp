// SPDX-License-Identifier: Apache-2.0
#include "attach/target.hpp"

#include <elf.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/core.h>

#include "base/descriptor.hpp"
#include "launch/folder.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

namespace fs = std::filesystem;

using fields = std::map<std::string, std::string>;

std::string of_process(int process, const char* what) { return fmt::format("/proc/{}/{}", process, what); }

std::string of_thread(int process, int thread, const char* what) {
  return fmt::format("/proc/{}/task/{}/{}", process, thread, what);
}

/// "Key:\tvalue" lines.
fields status_of(const std::string& file) {
  fields found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    found[line.substr(0, colon)] = begin == std::string::npos ? "" : line.substr(begin);
  }
  return found;
}

/// 0 where there is no number.
long number_in(const std::string& text, int base = 10) { return std::strtol(text.c_str(), nullptr, base); }

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The last word: of several numbers of nested PID namespaces the innermost.
std::string last_word(const std::string& text) { return text.substr(text.find_last_of(" \t") + 1); }

bool same_namespace(int process, const char* which) {
  struct stat theirs{};
  struct stat ours{};
  return stat(of_process(process, which).c_str(), &theirs) == 0 &&
         stat((std::string("/proc/self/") + which).c_str(), &ours) == 0 && theirs.st_ino == ours.st_ino &&
         theirs.st_dev == ours.st_dev;
}

bool may_trace_all() {
  constexpr unsigned sys_ptrace = 19;  // CAP_SYS_PTRACE
  const std::string rights = status_of("/proc/self/status")["CapEff"];
  return (std::strtoull(rights.c_str(), nullptr, 16) >> sys_ptrace & 1) != 0;
}

std::string user_name(std::uint32_t user) {
  const passwd* const known = getpwuid(user);
  return known == nullptr ? std::to_string(user) : known->pw_name;
}

/// Why the system denies it, and what to do.
std::string denial(int process, std::uint32_t user, int error) {
  const std::string begin = fmt::format("process {} may not be read: ", process);
  const std::string as_root = fmt::format("as root: sudo txsync top {}", process);
  const std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
  if (scope == "3") return begin + "kernel.yama.ptrace_scope is 3, which forbids it to all until the next boot";
  if (geteuid() == 0 && !may_trace_all())
    return begin + "this container lacks the capability SYS_PTRACE; start it with --cap-add SYS_PTRACE";
  if (user != geteuid())
    return begin + fmt::format("it belongs to user {}; allowed: as that user, or {}", user_name(user), as_root);
  if (scope == "2") return begin + "kernel.yama.ptrace_scope is 2; allowed: " + as_root;
  struct stat about{};
  if (stat(of_process(process, "").c_str(), &about) == 0 && about.st_uid != user)
    return begin + "it protects its memory (it has changed its user, or asked for it); allowed: " + as_root;
  if (scope == "1")
    return begin + fmt::format("kernel.yama.ptrace_scope is 1; allowed: {}, or sudo sysctl kernel.yama.ptrace_scope=0",
                               as_root);
  return begin +
         fmt::format("{}; a sandbox may forbid it; allowed: outside of it, or {}", std::strerror(error), as_root);
}

/// Whether the program is one of 64 bits; its files are read by offsets of such.
bool is_64_bit(const std::string& file) {
  unsigned char head[EI_NIDENT] = {};
  const base::descriptor program(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return program.get() < 0 || read(program.get(), head, sizeof head) != static_cast<ssize_t>(sizeof head) ||
         head[EI_CLASS] != ELFCLASS32;
}

void check_there(int process, const fields& status) {
  const auto state = status.find("State");
  if (state == status.end())
    throw refused(false, fmt::format("there is no process {}; txsync top alone lists those under txsync run", process));
  const auto group = status.find("Tgid");
  if (group != status.end() && number_in(group->second) != process)
    throw refused(false,
                  fmt::format("{0} is a thread of process {1}; allowed: txsync top {1}", process, group->second));
  if (state->second.starts_with('Z') || state->second.starts_with('X'))
    throw refused(false, fmt::format("process {} has ended; only its parent has not waited for it", process));
  if (process == getpid())
    throw refused(false, fmt::format("process {} is this txsync; allowed: another process", process));
  if (status.find("VmSize") == status.end())
    throw refused(false, fmt::format("process {} has no memory: it is ending, or a thread of the kernel", process));
}

}  // namespace

target open_target(int process) {
  fields status = status_of(of_process(process, "status"));
  check_there(process, status);
  target made;
  made.process = process;
  made.user = static_cast<std::uint32_t>(number_in(status["Uid"].substr(status["Uid"].find('\t') + 1)));  // effective
  // Its opening is checked as reading memory and stopping are.
  const base::descriptor memory(open(of_process(process, "mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (memory.get() < 0) throw refused(true, denial(process, made.user, errno));
  if (!is_64_bit(of_process(process, "exe")))
    throw refused(false, fmt::format("process {} is a 32-bit program; allowed: 64-bit programs", process));
  made.inner_process = static_cast<int>(number_in(last_word(status["NSpid"])));
  if (made.inner_process == 0) made.inner_process = process;
  made.other_numbers = !same_namespace(process, "ns/pid");
  std::error_code error;
  made.program = fs::read_symlink(of_process(process, "exe"), error).string();
  // Not the file's name: redis-server is a link to redis-check-rdb.
  made.name = first_line(of_process(process, "comm"));
  const fs::path root = fs::read_symlink(of_process(process, "root"), error);
  if (!same_namespace(process, "ns/mnt") || root != "/") made.root = of_process(process, "root");
  return made;
}

bool is_alive(const target& of) {
  const fields status = status_of(of_process(of.process, "status"));
  const auto state = status.find("State");
  return state != status.end() && !state->second.starts_with('Z') && !state->second.starts_with('X') &&
         status.find("VmSize") != status.end();
}

std::optional<blocked_call> blocked_call_of(int process, int thread) {
  std::istringstream words(first_line(of_thread(process, thread, "syscall")));
  std::string word;
  if (!(words >> word) || word == "running") return std::nullopt;
  blocked_call made;
  made.number = number_in(word);
  words >> std::hex;
  const auto next = [&words](std::uint64_t& into) {
    std::string text;
    words >> text;
    into = std::strtoull(text.c_str(), nullptr, 16);
  };
  if (made.number != -1) {
    for (std::uint64_t& one : made.arguments) next(one);
  }
  next(made.stack);
  next(made.code);
  return made;
}

namespace {

/// False when the thread has ended.
bool read_task(const target& of, task& into) {
  // "ID (NAME) STATE ...": the name may hold brackets and blanks.
  const std::string line = first_line(of_thread(of.process, into.id, "stat"));
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= line.size()) return false;
  into.name = line.substr(open + 1, close - open - 1);
  into.state = line[close + 2];
  into.inner_id = into.id;
  if (of.other_numbers)
    into.inner_id =
        static_cast<int>(number_in(last_word(status_of(of_thread(of.process, into.id, "status"))["NSpid"])));
  into.call = blocked_call_of(of.process, into.id);
  return true;
}

}  // namespace

std::vector<task> tasks_of(const target& of) {
  std::vector<task> found;
  std::error_code error;
  for (const fs::path& entry : launch::entries_of(of_process(of.process, "task"), error)) {
    task one;
    one.id = static_cast<int>(number_in(entry.filename().string()));
    if (one.id != 0 && read_task(of, one)) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
