// SPDX-License-Identifier: Apache-2.0
// What binutils' objdump says about an object file or an archive: functions with their instructions, and symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace txsync::sim::toolchain {

struct instruction {
  std::uint64_t address = 0;
  std::string mnemonic;    // with prefixes such as lock and rep
  std::string operands;    // AT&T order: the destination is the last one
  std::string relocation;  // "TYPE symbol[+-addend]", empty without one
};

struct code_section {
  std::string name;
  std::vector<instruction> instructions;           // by address
  std::map<std::uint64_t, std::string> functions;  // address -> name, mangled
};

struct symbol_place {
  std::string section;  // "*UND*" for an undefined one
  std::uint64_t offset = 0;
  bool global = false;
};

struct object_file {
  std::string name;   // path, or path(member)
  std::string known;  // the name that its user knows: the source that it was just made of, or its own name
  std::vector<code_section> code;
  std::map<std::string, symbol_place, std::less<>> symbols;
  std::set<std::string> undefined;
  bool audited = false;  // it has the mark that txsync-c++ puts on objects whose accesses it has checked

  // The section that contains a relocation's symbol; "*UND*" for a symbol of another object.
  std::string section_of(std::string_view symbol) const;
};

// The local symbol that marks an audited object.
inline constexpr std::string_view audit_mark = "txsync_audited";

// Reads one object, or all members of an archive; without `code` only the symbols. Throws std::runtime_error if objdump
// cannot read the file.
std::vector<object_file> read_objects(const std::string& path, bool code);

// Runs a command and calls back with each line of its output. Throws std::runtime_error if it fails.
void each_line(const std::vector<std::string>& command, const std::function<void(std::string_view)>& line);

}  // namespace txsync::sim::toolchain
