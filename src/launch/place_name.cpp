// SPDX-License-Identifier: Apache-2.0
#include "launch/place_name.hpp"

#include <pthread.h>

#include <cstring>
#include <filesystem>

#include <fmt/core.h>

#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

std::string last_part(const std::string& path) { return observe::printable(path.substr(path.rfind('/') + 1)); }

/// "libm.so.6+0x1f", for code or data without symbols.
std::string offset_in(const std::string& path, std::uint64_t offset) {
  return fmt::format("{}+{:#x}", last_part(path), offset);
}

/// The target of a link of a process in /proc; empty if the process has ended.
std::string process_link(std::uint32_t process, const char* which) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/{}", process, which), error);
  return error ? std::string() : target.string();
}

place_name name_of(const symbols::function_at& function, const std::string& module) {
  place_name named{function.name, {}, module, 0};
  if (function.file.empty() || function.line == 0) {
    named.name += fmt::format("+{:#x}", function.offset);
  } else {
    named.where = fmt::format("{}:{}", function.file, function.line);
    named.name += "@" + last_part(named.where);
  }
  // Here, so that tables, documents and policy files have the same name.
  named.name = observe::printable(named.name);
  named.where = observe::printable(named.where);
  return named;
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

std::string place_names::program_of(std::uint32_t process) const {
  const std::string program = process_link(process, "exe");
  return program.empty() ? program_ : program;
}

std::string place_names::path_of(const channel::frame& frame, std::uint32_t process) const {
  std::string path(frame.module, strnlen(frame.module, sizeof frame.module));
  if (path == "/proc/self/exe") return program_of(process);
  if (path.front() == '/' || path.find('/') == std::string::npos) return path;
  const std::string folder = process_link(process, "cwd");
  return folder.empty() ? path : folder + "/" + path;
}

place_names::module& place_names::module_of(const std::string& path) {
  module& known = modules_[path];
  if (known.file_symbols == nullptr) known.file_symbols = std::make_unique<symbols::module_symbols>(path);
  return known;
}

const std::vector<symbols::function_at>& place_names::around(module& in, std::uint64_t offset) {
  const auto known = in.known.find(offset);
  return known != in.known.end() ? known->second
                                 : in.known.emplace(offset, in.file_symbols->around(offset)).first->second;
}

place_name place_names::name(const channel::frame_list& where, std::uint32_t process) {
  place_name outermost;  // the outermost wrapper, in case there is nothing else
  for (std::uint32_t i = 0; i < where.count && i < channel::frame_list::max_frames; ++i) {
    const channel::frame& frame = where.frames[i];
    if (frame.module[0] == '\0') continue;  // code that belongs to no file
    const std::string path = path_of(frame, process);
    const std::vector<symbols::function_at>& functions = around(module_of(path), frame.offset);
    if (functions.empty()) return {offset_in(path, frame.offset), {}, path, i + 1};
    for (const symbols::function_at& function : functions) {
      if (!is_lock_wrapper(function.name)) {
        place_name named = name_of(function, path);
        named.frames = i + 1;
        return named;
      }
      outermost = name_of(function, path);
    }
  }
  if (outermost.name.empty()) outermost.name = "(unknown)";
  return outermost;
}

std::vector<named_call> place_names::calls(const channel::frame& frame, std::uint32_t process) {
  if (frame.module[0] == '\0') return {{"(code of no file)", {}, 0, {}, frame.offset, false}};
  const std::string path = path_of(frame, process);
  std::vector<named_call> calls_there;
  for (const symbols::function_at& function : around(module_of(path), frame.offset)) {
    calls_there.push_back({observe::printable(function.name), observe::printable(function.file), function.line, path,
                           frame.offset, true});
  }
  if (calls_there.empty()) calls_there.push_back({offset_in(path, frame.offset), {}, 0, path, frame.offset, true});
  calls_there.back().is_inlined = false;
  return calls_there;
}

object_name place_names::name_object(const channel::frame_list& where, std::uint32_t process,
                                     channel::object_kind kind) {
  const channel::frame& frame = where.frames[0];
  const std::string path = path_of(frame, process);
  module& in = module_of(path);
  const symbols::static_object object = in.file_symbols->static_object_at(frame.offset);
  object_name named;
  named.name.module = path;
  if (object.name.empty()) {
    named.name.name = offset_in(path, frame.offset);
    in.nameless.insert(frame.offset);
    if (in.nameless.size() <= max_nameless) return named;
    named.name.name = last_part(path) + " (static objects without symbols)";
    named.same = {0, ~std::uint64_t{0}, 1};
    return named;
  }
  named.name.name = observe::printable(object.name);
  const std::uint64_t size = size_of_lock(kind);
  const bool is_array = object.size > size && object.size % size == 0 && object.offset % size == 0;
  if (is_array || object.size > largest_told_apart) {
    const std::uint64_t begin = frame.offset - object.offset;
    named.same = {begin, begin + object.size, is_array ? size : 1};
  } else if (object.offset != 0) {
    named.name.name += fmt::format("+{:#x}", object.offset);
  }
  if (!object.file.empty()) named.name.name += fmt::format(" ({})", observe::printable(object.file));
  named.name.name += " in " + last_part(path);
  return named;
}

void place_names::forget_changed_files() {
  std::erase_if(modules_, [](const auto& entry) { return entry.second.file_symbols->is_stale(); });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
