// SPDX-License-Identifier: Apache-2.0
// Why a verdict may be worth nothing, whatever its figures say. Runs may have had nothing to read, or were too short.
// They may have left locks unchanged, or done different work. A program's runs show it. It does not influence
// decisions.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// What one run shows from the outside.
struct run_facts {
  std::string configuration;  ///< its name, from name_of()
  double seconds = 0;
  int exit_status = 0;
  std::string_view output;  ///< both outputs
  bool output_cut = false;  ///< then the output is not compared
  bool timed_out = false;   ///< then nothing of the run is compared
  bool read_in_vain = false;
  std::vector<std::string> without_library = {};  ///< why programs that it started kept their own locks
  std::string without_waits = {};                 ///< which waits nobody counted
};

/// Collects the runs, the reference's first.
class doubts {
 public:
  /// `has_metric`: the output has a number that is meant to differ, so numbers are not compared.
  doubts(std::string reference, bool has_metric);

  void add(const run_facts& run);

  /// One line each, for tables, documents and pages. None if there is no doubt.
  std::vector<std::string> sentences() const;

 private:
  /// An output's lines in any order: without their numbers, and unchanged.
  struct digest {
    std::size_t words = 0;
    std::size_t whole = 0;
    auto operator<=>(const digest&) const = default;
  };
  static digest digest_of(std::string_view output);

  void put_short(std::vector<std::string>& list) const;
  void put_statuses(std::vector<std::string>& list) const;
  void put_outputs(std::vector<std::string>& list) const;
  std::string other_output(std::size_t digest::* part) const;

  std::string reference_;
  bool has_metric_;
  bool read_in_vain_ = false;
  std::set<std::string> without_library_;
  std::string without_waits_;
  std::vector<double> reference_seconds_;
  std::map<std::string, std::set<digest>> outputs_;          // by configuration
  std::map<int, std::map<std::string, unsigned>> statuses_;  // number of runs, by status and configuration
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune
