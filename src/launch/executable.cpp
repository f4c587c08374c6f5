// SPDX-License-Identifier: Apache-2.0
#include "launch/executable.hpp"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/descriptor.hpp"
#include "launch/elf_handle.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

constexpr int not_there = 127;
constexpr int not_runnable = 126;
constexpr unsigned max_interpreters = 5;  // the kernel follows four

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw cannot_start(not_runnable, path + " " + what);
}

bool is_runnable_file(const std::string& path) {
  struct stat about{};
  return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// Why the file at a path that the user named cannot be run.
[[noreturn]] void say_why(const std::string& path) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0) {
    const int reason = errno;
    const bool missing = reason == ENOENT || reason == ENOTDIR;
    throw cannot_start(missing ? not_there : not_runnable, path + ": " + std::strerror(reason));
  }
  throw cannot_start(not_runnable, path + ": " + std::strerror(S_ISDIR(about.st_mode) ? EISDIR : EACCES));
}

std::string along_path(const std::string& command) {
  const char* const set = std::getenv("PATH");
  std::string_view rest = set != nullptr ? set : "/bin:/usr/bin";
  std::string denied;
  for (;;) {
    const std::size_t end = rest.find(':');
    const std::string folder(rest.substr(0, end));
    const std::string path = (folder.empty() ? "." : folder) + "/" + command;
    if (is_runnable_file(path)) return path;
    struct stat about{};
    if (denied.empty() && stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode)) denied = path;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (!denied.empty()) say_why(denied);
  throw cannot_start(not_there, command + ": not found along PATH");
}

/// The interpreter in a "#!" line; empty without one. A file without either goes to /bin/sh, as with execvp.
std::string script_interpreter(int file, const std::string& path) {
  char line[256] = {};
  const ssize_t length = pread(file, line, sizeof line - 1, 0);
  if (length < 0) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  if (std::memcmp(line, ELFMAG, SELFMAG) == 0) return {};
  if (line[0] != '#' || line[1] != '!') return "/bin/sh";
  const char* const begin = line + 2 + std::strspn(line + 2, " \t");
  return {begin, std::strcspn(begin, " \t\r\n")};
}

struct elf_facts {
  int bits = 0;  // ELFCLASS32, ELFCLASS64
  int machine = 0;
  std::string interpreter;  // empty: a static program
};

elf_facts facts_of(int file, const std::string& path) {
  elf_version(EV_CURRENT);
  const elf_handle elf(elf_begin(file, ELF_C_READ_MMAP, nullptr));
  GElf_Ehdr header;
  if (elf == nullptr || gelf_getehdr(elf.get(), &header) == nullptr)
    refuse(path, "is no program that this system knows");
  elf_facts found{header.e_ident[EI_CLASS], header.e_machine, {}};
  std::size_t segments = 0;
  elf_getphdrnum(elf.get(), &segments);
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_INTERP) continue;
    std::string name(std::min<std::size_t>(segment.p_filesz, 4096), '\0');
    const ssize_t got = pread(file, name.data(), name.size(), static_cast<off_t>(segment.p_offset));
    name.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    found.interpreter = name.substr(0, name.find('\0'));
  }
  return found;
}

/// The sanitizer's library that a program is linked with; empty without one.
std::string sanitizer_of(int file) {
  const elf_handle elf(elf_begin(file, ELF_C_READ_MMAP, nullptr));
  for (Elf_Scn* part = elf_nextscn(elf.get(), nullptr); part != nullptr; part = elf_nextscn(elf.get(), part)) {
    GElf_Shdr about;
    if (gelf_getshdr(part, &about) == nullptr || about.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* const entries = elf_getdata(part, nullptr);
    GElf_Dyn entry;
    for (int i = 0; entries != nullptr && gelf_getdyn(entries, i, &entry) != nullptr; ++i) {
      const char* const name =
          entry.d_tag == DT_NEEDED ? elf_strptr(elf.get(), about.sh_link, entry.d_un.d_val) : nullptr;
      const std::string_view library = name != nullptr ? name : "";
      if (library.starts_with("libtsan.so") || library.starts_with("libasan.so")) return std::string(library);
    }
  }
  return {};
}

const elf_facts& own_facts() {
  static const elf_facts facts = [] {
    const base::descriptor self(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    return facts_of(self.get(), "/proc/self/exe");
  }();
  return facts;
}

/// Whether the file is the dynamic linker that loaded txsync itself.
bool is_dynamic_linker(const std::string& path) {
  std::error_code error;
  return !own_facts().interpreter.empty() && std::filesystem::equivalent(path, own_facts().interpreter, error);
}

void check_rights(int file, const std::string& path) {
  struct stat about{};
  if (fstat(file, &about) != 0) refuse(path, std::string("cannot be looked at: ") + std::strerror(errno));
  const char* const why = "the dynamic linker takes no library into a program that has more rights than its user";
  if ((about.st_mode & S_ISUID) != 0) refuse(path, std::string("is set-user-ID: ") + why);
  if ((about.st_mode & S_ISGID) != 0 && (about.st_mode & S_IXGRP) != 0)
    refuse(path, std::string("is set-group-ID: ") + why);
  if (fgetxattr(file, "security.capability", nullptr, 0) > 0)
    refuse(path, std::string("has file capabilities: ") + why);
}

void check_kind(int file, const std::string& path) {
  const elf_facts facts = facts_of(file, path);
  if (facts.bits != own_facts().bits) {
    refuse(path, std::string("is a ") + (facts.bits == ELFCLASS32 ? "32" : "64") + "-bit program, txsync is not");
  }
  if (facts.machine != own_facts().machine) refuse(path, "is for another processor");
  if (facts.interpreter.empty()) {
    if (is_dynamic_linker(path)) return;  // `ld.so PROGRAM`: preloads as usual
    refuse(path, "is a static program: without a dynamic linker its locks cannot be replaced; link it dynamically");
  }
  if (facts.interpreter.find("musl") != std::string::npos) {
    refuse(path, "uses another C library (" + facts.interpreter + "); txsync knows glibc only");
  }
}

/// Sanitizers look for the lock functions behind their own library. With ours in front they see no locks, or do not
/// start.
void check_sanitizer(int file, const std::string& path, const std::string& preloaded) {
  const std::string library = sanitizer_of(file);
  if (library.empty() || preloaded.find(library.substr(0, library.find(".so"))) != std::string::npos) return;
  refuse(path, "is built with a sanitizer, whose library must be loaded before txsync's: LD_PRELOAD=" + library +
                   " txsync run ...");
}

}  // namespace

std::string find_program(const std::string& command) {
  if (command.empty()) throw cannot_start(not_there, "the program's name is empty");
  if (command.find('/') == std::string::npos) return along_path(command);
  if (!is_runnable_file(command)) say_why(command);
  return command;
}

void check_takes_library(const std::string& program, const std::string& preloaded) {
  std::string path = program;
  for (unsigned depth = 0; depth < max_interpreters; ++depth) {
    const base::descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0)
      refuse(path, std::string("cannot be read, so that its kind is not known: ") + std::strerror(errno));
    const std::string interpreter = script_interpreter(file.get(), path);
    if (interpreter.empty()) {
      check_rights(file.get(), path);
      check_kind(file.get(), path);
      check_sanitizer(file.get(), path, preloaded);
      return;
    }
    if (!is_runnable_file(interpreter))
      refuse(path, "asks for the interpreter " + interpreter + ", which cannot be run");
    path = interpreter;
  }
  refuse(program, "is a script whose interpreters have no end");
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch
