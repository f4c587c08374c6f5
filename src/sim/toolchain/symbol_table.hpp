// SPDX-License-Identifier: Apache-2.0
// symbols.txt, read: what becomes of each symbol of the outside that a simulated program uses.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace txsync::sim::toolchain {

enum class treatment { unknown, wrapped, outside, plain, refused };

struct symbol_rule {
  treatment what = treatment::unknown;
  std::string target;  // wrapped, outside: the new name
  std::string reason;  // refused: why
};

class symbol_table {
 public:
  // Throws std::runtime_error with "FILE:LINE: what" when the file is missing or has a mistake, such as two rules for
  // one name or two names for one target (objcopy takes no such map).
  explicit symbol_table(const std::string& file);

  // An exact name counts before a pattern.
  symbol_rule find(std::string_view name) const;

  // The name that the source gave to a function that is called `name` after the renaming.
  std::string given_name(const std::string& name) const;

  // objcopy's --redefine-syms file: "NAME TARGET" lines.
  std::string map() const;

  // Assembly of the thunks of the section [outside].
  std::string thunks() const;

  // The new names of the section [wrapped]; somebody has to define them.
  std::vector<std::string> wrapped_targets() const;

 private:
  void add(const std::string& word, const symbol_rule& section, const std::string& place);

  std::map<std::string, symbol_rule, std::less<>> exact_;
  std::vector<std::string> plain_prefixes_;
  std::map<std::string, std::string> names_by_target_;
};

}  // namespace txsync::sim::toolchain
