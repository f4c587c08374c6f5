// SPDX-License-Identifier: Apache-2.0
#include "launch/place_name.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

std::string hexadecimal(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%" PRIx64, number);
  return text;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// What /proc says a link of a process means; empty when the process has ended.
std::string process_link(std::uint32_t process, const char* which) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/" + which, error);
  return error ? std::string() : target.string();
}

place_name name_of(const function_at& function, const std::string& module) {
  place_name made{function.name, {}, module};
  if (function.file.empty() || function.line == 0) {
    made.name += hexadecimal(function.offset);
  } else {
    made.where = function.file + ":" + std::to_string(function.line);
    made.name += "@" + last_part(made.where);
  }
  return made;
}

}  // namespace

std::string place_names::path_of(const preload::frame& one, std::uint32_t process) const {
  std::string path(one.module, strnlen(one.module, sizeof one.module));
  if (path == "/proc/self/exe") {
    const std::string program = process_link(process, "exe");
    return program.empty() ? program_ : program;
  }
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

place_name place_names::name(const preload::place& where, std::uint32_t process) {
  place_name outermost;  // of the wrappers, should there be nothing else
  for (std::uint32_t i = 0; i < where.count && i < preload::place::most; ++i) {
    const preload::frame& frame = where.frames[i];
    if (frame.module[0] == '\0') continue;  // code that belongs to no file
    const std::string path = path_of(frame, process);
    const std::vector<function_at>& functions = around(module_of(path), frame.offset);
    if (functions.empty()) return {last_part(path) + hexadecimal(frame.offset), {}, path};
    for (const function_at& function : functions) {
      if (!is_lock_wrapper(function.name)) return name_of(function, path);
      outermost = name_of(function, path);
    }
  }
  if (outermost.name.empty()) outermost.name = "(unknown)";
  return outermost;
}

void place_names::forget_changed_files() {
  std::erase_if(modules_, [](const auto& entry) { return entry.second.symbols->is_stale(); });
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch
