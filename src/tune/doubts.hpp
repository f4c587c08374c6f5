// SPDX-License-Identifier: Apache-2.0
// Why a verdict may be worth nothing, whatever its figures say: runs that had nothing to read, that are too short, that
// left locks as they were, or that did not all do the same. A program's runs tell it; nothing is decided by it.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::tune {

/// What one run shows from the outside.
struct run_facts {
  std::string choice;  ///< name_of() it
  double seconds = 0;
  int exit_status = 0;
  std::string_view output;  ///< both outputs
  bool output_cut = false;  ///< then it is not compared
  bool timed_out = false;   ///< then nothing of it is compared
  bool read_in_vain = false;
  std::vector<std::string> without_library = {};  ///< why programs that it started kept their locks
};

/// Collects the runs, the reference's first.
class doubts {
 public:
  /// `has_metric`: the output has a number that is to differ, so that none is compared.
  doubts(std::string reference, bool has_metric);

  void add(const run_facts& one);

  /// One line each, for tables, documents and pages; none where there is no doubt.
  std::vector<std::string> sentences() const;

 private:
  /// An output's lines in any order, without their numbers and as they are.
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
  std::vector<double> reference_seconds_;
  std::map<std::string, std::set<digest>> outputs_;          // by choice
  std::map<int, std::map<std::string, unsigned>> statuses_;  // runs by status and choice
};

}  // namespace txsync::inline TXSYNC_BACKEND::tune
