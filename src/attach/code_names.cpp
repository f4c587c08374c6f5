// SPDX-License-Identifier: Apache-2.0
#include "attach/code_names.hpp"

#include <fmt/core.h>

#include "base/words.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

std::string last_part(const std::string& path) { return observe::printable(path.substr(path.rfind('/') + 1)); }

}  // namespace

std::string text_of(const named_frame& frame) {
  if (frame.function.empty())
    return frame.module.empty() ? base::hexadecimal(frame.offset) : fmt::format("{}+{:#x}", frame.module, frame.offset);
  if (!frame.where.empty())
    return fmt::format("{} ({})", frame.function, frame.where.substr(frame.where.rfind('/') + 1));
  if (frame.module.empty()) return frame.function;
  return fmt::format("{}+{:#x} in {}", frame.function, frame.offset, frame.module);
}

void code_names::refresh(const target& of) {
  made_code_.refresh(of);
  std::erase_if(modules_, [](const auto& one) { return one.second.file_symbols->is_stale(); });
  objects_.forget_changed_files();
}

const std::vector<named_frame>& code_names::in_file(const loaded_file& file, std::uint64_t offset) {
  module& in = modules_[file.path];
  if (in.file_symbols == nullptr) in.file_symbols = std::make_unique<symbols::module_symbols>(file.path);
  const auto [at, is_new] = in.known.try_emplace(offset);
  if (!is_new) return at->second;
  const std::string name = last_part(file.path);
  for (const symbols::function_at& one : in.file_symbols->around(offset)) {
    const bool has_line = !one.file.empty() && one.line != 0;
    at->second.push_back({observe::printable(one.name),
                          has_line ? fmt::format("{}:{}", observe::printable(one.file), one.line) : std::string(), name,
                          one.offset});
  }
  if (at->second.empty()) at->second.push_back({{}, {}, name, offset});
  return at->second;
}

const std::vector<named_frame>& code_names::names(const loaded_file& file, const code_frame& frame) {
  // Tables are asked for the address behind a call; the next instruction is looked for one byte later, therefore.
  return in_file(file, frame.code - file.bias + (frame.is_call ? 0 : 1));
}

std::vector<named_frame> code_names::names(const memory_map& map, const call_chain& chain) {
  std::vector<named_frame> made;
  for (const code_frame& frame : chain.frames) {
    if (const loaded_file* const file = map.file_at(frame.code); file != nullptr) {
      const std::vector<named_frame>& known = names(*file, frame);
      made.insert(made.end(), known.begin(), known.end());
      continue;
    }
    named_frame one{observe::printable(made_code_.name_at(frame.code - (frame.is_call ? 1 : 0))), {}, {}, frame.code};
    const mapping* const in = map.at(frame.code);
    if (one.function.empty() && in != nullptr && !in->path.empty()) {
      one.module = last_part(in->path);
      one.offset = frame.code - in->begin + in->offset;
    }
    made.push_back(std::move(one));
  }
  return made;
}

std::string code_names::object_name(const memory_map& map, std::uint64_t address, int process) {
  const loaded_file* const file = map.file_at(address);
  channel::frame_list where{1, {}};
  if (file == nullptr || file->path.size() >= sizeof where.frames[0].module) return {};
  where.frames[0].offset = address - file->bias;
  file->path.copy(where.frames[0].module, sizeof where.frames[0].module - 1);
  return objects_.name_object(where, static_cast<std::uint32_t>(process), channel::object_kind::mutex).name.name;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
