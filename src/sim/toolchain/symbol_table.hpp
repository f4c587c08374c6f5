// SPDX-License-Identifier: Apache-2.0
// symbols.txt as a table: what happens to each outside symbol that a simulated program uses.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace txsync::sim::toolchain {

enum class treatment { unknown, wrapped, outside, plain, ends };

struct symbol_rule {
  treatment what = treatment::unknown;
  std::string target;  // wrapped, outside, ends: the new name
  std::string reason;  // ends: the reason
};

class symbol_table {
 public:
  // Throws std::runtime_error with "FILE:LINE: what" if the file is missing or has a mistake. Mistakes are, for
  // example, two rules for one name, and two names for one target (objcopy accepts no such map).
  explicit symbol_table(const std::string& file);

  // An exact name takes precedence over a pattern.
  symbol_rule find(std::string_view name) const;

  // The name that the source gave to a function that is called `name` after the renaming.
  std::string given_name(const std::string& name) const;
  // The rule of a function that is called `name` after the renaming.
  symbol_rule rule_of_target(const std::string& name) const { return find(given_name(name)); }

  // objcopy's --redefine-syms file: "NAME TARGET" lines.
  std::string map() const;

  // The assembly code of the thunks for the sections [outside] and [ends].
  std::string thunks() const;

  // The new names of the section [wrapped]; each of them must be defined somewhere.
  std::vector<std::string> wrapped_targets() const;

 private:
  void add(const std::string& word, const symbol_rule& section, const std::string& place);

  std::map<std::string, symbol_rule, std::less<>> exact_;
  std::vector<std::string> plain_prefixes_;
  std::map<std::string, std::string> names_by_target_;
};

}  // namespace txsync::sim::toolchain
