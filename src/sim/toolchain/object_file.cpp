// SPDX-License-Identifier: Apache-2.0
#include "object_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "base/spawn.hpp"

namespace txsync::sim::toolchain {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::strchr(" \t", text.front())) text.remove_prefix(1);
  while (!text.empty() && std::strchr(" \t\r\n", text.back())) text.remove_suffix(1);
  return text;
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::uint64_t hexadecimal(std::string_view text) { return std::strtoull(std::string(text).c_str(), nullptr, 16); }

bool is_prefix(std::string_view word) {
  for (const std::string_view prefix : {"lock", "rep", "repz", "repnz", "notrack", "bnd", "data16", "cs", "ds"}) {
    if (word == prefix) return true;
  }
  return false;
}

// Reads the output of objdump -t -d -r --no-show-raw-insn, one line at a time.
class listing {
 public:
  explicit listing(std::string path) : path_(std::move(path)) {}

  void line(std::string_view text) {
    if (text.find(":     file format ") != std::string_view::npos) return begin_object(text);
    if (text.starts_with("SYMBOL TABLE:")) return void(in_symbols_ = true);
    if (text.starts_with("Disassembly of section ")) return begin_section(text);
    if (objects_.empty() || text.empty()) return;
    if (in_symbols_) return symbol(text);
    if (text.front() == '0' && text.ends_with(">:")) return function(text);
    if (text.front() == ' ' || text.front() == '\t') code(text);
  }

  std::vector<object_file> take() { return std::move(objects_); }

 private:
  void begin_object(std::string_view text) {
    const std::string name(text.substr(0, text.find(":     file format ")));
    objects_.emplace_back();
    objects_.back().name = path_.ends_with(".a") ? path_ + "(" + name + ")" : path_;
    objects_.back().known = objects_.back().name;
    in_symbols_ = false;
  }

  void begin_section(std::string_view text) {
    in_symbols_ = false;
    text.remove_prefix(std::strlen("Disassembly of section "));
    objects_.back().code.push_back({std::string(text.substr(0, text.size() - 1)), {}, {}});
  }

  // "VALUE FLAGS SECTION\tSIZE [.hidden ]NAME"; the flags are seven characters.
  void symbol(std::string_view text) {
    const std::size_t tab = text.find('\t');
    if (tab == std::string_view::npos || text.size() < 26 || tab < 25) return;
    std::string_view name = text.substr(tab + 1);
    name = name.substr(name.find(' ') + 1);
    if (name.starts_with(".hidden ")) name.remove_prefix(8);
    const std::string section(text.substr(25, tab - 25));
    object_file& object = objects_.back();
    if (name == audit_mark) object.audited = true;
    if (section == "*UND*" && text[18] == 'w') return;  // it may be missing
    if (section == "*UND*") {
      object.undefined.emplace(name);
      object.symbols.try_emplace(std::string(name), symbol_place{section, 0, true});
      return;
    }
    object.symbols[std::string(name)] = {section, hexadecimal(text.substr(0, 16)), text[17] != 'l'};
  }

  void function(std::string_view text) {
    const std::size_t open = text.find('<');
    objects_.back().code.back().functions[hexadecimal(text.substr(0, open - 1))] =
        text.substr(open + 1, text.size() - open - 3);
  }

  // "   1a:\tmnemonic operands[\t1b: R_X86_64_TYPE\tsymbol-0x4]..."
  void code(std::string_view text) {
    const std::size_t colon = text.find(":\t");
    if (colon == std::string_view::npos) return;
    const std::string_view address = trimmed(text.substr(0, colon));
    if (!is_hexadecimal(address)) return;
    text.remove_prefix(colon + 2);
    const std::size_t relocation = text.find(": R_X86_64_");
    instruction read = split(hexadecimal(address), text.substr(0, text.find('\t')));
    if (relocation != std::string_view::npos) {
      read.relocation = text.substr(relocation + 2);
      read.relocation = read.relocation.substr(0, read.relocation.find('\t', read.relocation.find('\t') + 1));
      for (char& c : read.relocation) c = c == '\t' ? ' ' : c;
    }
    objects_.back().code.back().instructions.push_back(std::move(read));
  }

  static instruction split(std::uint64_t address, std::string_view text) {
    text = trimmed(text.substr(0, text.find('#')));
    std::size_t start = 0, end = text.find(' ');
    while (end != std::string_view::npos && is_prefix(text.substr(start, end - start))) {
      start = end + 1;
      end = text.find(' ', start);
    }
    if (end == std::string_view::npos) return {address, std::string(text), {}, {}};
    return {address, std::string(text.substr(0, end)), std::string(trimmed(text.substr(end))), {}};
  }

  std::string path_;
  std::vector<object_file> objects_;
  bool in_symbols_ = false;
};

}  // namespace

std::string object_file::section_of(std::string_view symbol) const {
  if (symbol.starts_with(".")) {
    // A section's own symbol, or a local label such as .LC0, whose section is in the table.
    const auto found = symbols.find(symbol);
    return found == symbols.end() ? std::string(symbol) : found->second.section;
  }
  const auto found = symbols.find(symbol);
  return found == symbols.end() ? "*UND*" : found->second.section;
}

void each_line(const std::vector<std::string>& command, const std::function<void(std::string_view)>& line) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  base::spawned_files files;
  files.give(ends[1], STDOUT_FILENO);
  files.close(ends[0]);
  pid_t child = 0;
  try {
    child = base::spawn_found(command, files);
  } catch (const std::system_error& error) {
    close(ends[1]);
    close(ends[0]);
    throw std::runtime_error(command[0] +
                             " (Debian's binutils) cannot be started: " + std::strerror(error.code().value()));
  }
  close(ends[1]);
  FILE* out = fdopen(ends[0], "r");
  char* text = nullptr;
  std::size_t room = 0;
  for (ssize_t length = getline(&text, &room, out); length > 0; length = getline(&text, &room, out)) {
    std::string_view read(text, static_cast<std::size_t>(length));
    line(read.ends_with('\n') ? read.substr(0, read.size() - 1) : read);
  }
  free(text);
  fclose(out);
  if (base::wait_for(child) != 0) throw std::runtime_error(command[0] + " failed on " + command.back());
}

std::vector<object_file> read_objects(const std::string& path, bool code) {
  std::vector<std::string> command{"objdump", "-t"};
  if (code) command.insert(command.end(), {"-d", "-r", "--no-show-raw-insn", "-w"});
  command.push_back(path);
  listing read(path);
  each_line(command, [&](std::string_view text) { read.line(text); });
  return read.take();
}

}  // namespace txsync::sim::toolchain
