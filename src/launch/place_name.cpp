// SPDX-License-Identifier: Apache-2.0
#include "launch/place_name.hpp"

#include <pthread.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "observe/document/printable.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

std::string hexadecimal(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%" PRIx64, number);
  return text;
}

std::string last_part(const std::string& path) { return observe::printable(path.substr(path.rfind('/') + 1)); }

/// The target of a link of a process in /proc; empty if the process has ended.
std::string process_link(std::uint32_t process, const char* which) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/" + which, error);
  return error ? std::string() : target.string();
}

place_name name_of(const function_at& function, const std::string& module) {
  place_name made{function.name, {}, module, 0};
  if (function.file.empty() || function.line == 0) {
    made.name += hexadecimal(function.offset);
  } else {
    made.where = function.file + ":" + std::to_string(function.line);
    made.name += "@" + last_part(made.where);
  }
  // Here, so that tables, documents and policy files have the same name.
  made.name = observe::printable(made.name);
  made.where = observe::printable(made.where);
  return made;
}

/// A larger object of unknown type may hold thousands of locks of one role.
constexpr std::uint64_t largest_told_apart = 4096;

/// In one file without symbols. Further locks share one site, so that a table of locks does not use up all sites.
constexpr std::size_t max_nameless = 200;

std::uint64_t size_of_lock(channel::object_kind kind) {
  switch (kind) {
    case channel::object_kind::rwlock:
      return sizeof(pthread_rwlock_t);
    case channel::object_kind::spinlock:
      return sizeof(pthread_spinlock_t);
    case channel::object_kind::barrier:
      return sizeof(pthread_barrier_t);
    case channel::object_kind::mutex:
    case channel::object_kind::named:
      break;
  }
  return sizeof(pthread_mutex_t);
}

}  // namespace

bool is_library_code(std::string_view function) { return function.starts_with("std::") || function.starts_with("__"); }

std::string place_names::program_of(std::uint32_t process) const {
  const std::string program = process_link(process, "exe");
  return program.empty() ? program_ : program;
}

std::string place_names::path_of(const channel::frame& one, std::uint32_t process) const {
  std::string path(one.module, strnlen(one.module, sizeof one.module));
  if (path == "/proc/self/exe") return program_of(process);
  if (path.front() == '/' || path.find('/') == std::string::npos) return path;
  const std::string folder = process_link(process, "cwd");
  return folder.empty() ? path : folder + "/" + path;
}

place_names::module& place_names::module_of(const std::string& path) {
  module& one = modules_[path];
  if (one.symbols == nullptr) one.symbols = std::make_unique<module_symbols>(path);
  return one;
}

const std::vector<function_at>& place_names::around(module& in, std::uint64_t offset) {
  const auto known = in.known.find(offset);
  return known != in.known.end() ? known->second : in.known.emplace(offset, in.symbols->around(offset)).first->second;
}

place_name place_names::name(const channel::place& where, std::uint32_t process) {
  place_name outermost;  // the outermost wrapper, in case there is nothing else
  for (std::uint32_t i = 0; i < where.count && i < channel::place::most; ++i) {
    const channel::frame& frame = where.frames[i];
    if (frame.module[0] == '\0') continue;  // code that belongs to no file
    const std::string path = path_of(frame, process);
    const std::vector<function_at>& functions = around(module_of(path), frame.offset);
    if (functions.empty()) return {last_part(path) + hexadecimal(frame.offset), {}, path, i + 1};
    for (const function_at& function : functions) {
      if (!is_lock_wrapper(function.name)) {
        place_name made = name_of(function, path);
        made.frames = i + 1;
        return made;
      }
      outermost = name_of(function, path);
    }
  }
  if (outermost.name.empty()) outermost.name = "(unknown)";
  return outermost;
}

std::vector<named_call> place_names::calls(const channel::frame& one, std::uint32_t process) {
  if (one.module[0] == '\0') return {{"(code of no file)", {}, 0, {}, one.offset, false}};
  const std::string path = path_of(one, process);
  std::vector<named_call> made;
  for (const function_at& function : around(module_of(path), one.offset)) {
    made.push_back(
        {observe::printable(function.name), observe::printable(function.file), function.line, path, one.offset, true});
  }
  if (made.empty()) made.push_back({last_part(path) + hexadecimal(one.offset), {}, 0, path, one.offset, true});
  made.back().is_inlined = false;
  return made;
}

object_name place_names::name_object(const channel::place& where, std::uint32_t process, channel::object_kind kind) {
  const channel::frame& frame = where.frames[0];
  const std::string path = path_of(frame, process);
  module& in = module_of(path);
  const static_object found = in.symbols->static_object_at(frame.offset);
  object_name made;
  made.name.module = path;
  if (found.name.empty()) {
    made.name.name = last_part(path) + hexadecimal(frame.offset);
    in.nameless.insert(frame.offset);
    if (in.nameless.size() <= max_nameless) return made;
    made.name.name = last_part(path) + " (static objects without symbols)";
    made.same = {0, ~std::uint64_t{0}, 1};
    return made;
  }
  made.name.name = observe::printable(found.name);
  const std::uint64_t size = size_of_lock(kind);
  const bool is_array = found.size > size && found.size % size == 0 && found.offset % size == 0;
  if (is_array || found.size > largest_told_apart) {
    const std::uint64_t begin = frame.offset - found.offset;
    made.same = {begin, begin + found.size, is_array ? size : 1};
  } else if (found.offset != 0) {
    made.name.name += hexadecimal(found.offset);
  }
  if (!found.file.empty()) made.name.name += " (" + observe::printable(found.file) + ")";
  made.name.name += " in " + last_part(path);
  return made;
}

void place_names::forget_changed_files() {
  std::erase_if(modules_, [](const auto& entry) { return entry.second.symbols->is_stale(); });
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch
