// SPDX-License-Identifier: Apache-2.0
#include "symbols/source_text.hpp"

#include <fstream>
#include <system_error>
#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {

namespace {

std::string without_blanks(const std::string& line) {
  constexpr const char* blanks = " \t\r\f\v";
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  std::string text = line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
  if (text.size() <= source_text::max_width) return text;
  return text.substr(0, source_text::max_width - 3) + "...";
}

}  // namespace

source_text::source_text(std::filesystem::path program) : program_(std::move(program)) {}

const std::string& source_text::line(const std::string& file, unsigned number) {
  static const std::string none;
  if (file.empty() || number == 0) return none;
  auto known = files_.find(file);
  if (known == files_.end()) known = files_.emplace(file, read(file)).first;
  return number <= known->second.size() ? known->second[number - 1] : none;
}

std::vector<std::string> source_text::read(const std::string& file) const {
  std::error_code unknown;
  std::filesystem::path path = file;
  if (!std::filesystem::is_regular_file(path, unknown) && path.is_relative()) path = program_.parent_path() / path;
  // A compiler's own names, such as "<built-in>", are no files.
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  const auto written = std::filesystem::last_write_time(path, unknown);
  if (unknown || written > std::filesystem::last_write_time(program_, unknown) || unknown) return {};
  std::vector<std::string> lines;
  std::ifstream from(path);
  for (std::string line; std::getline(from, line);) lines.push_back(without_blanks(line));
  return lines;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
