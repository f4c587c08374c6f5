// SPDX-License-Identifier: Apache-2.0
// Answers a program's requests for the sites of its locks, and reads what the program's libraries noticed.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <txsync/machine/assert.hpp>

#include "launch/channel_file.hpp"
#include "launch/place_name.hpp"
#include "launch/site_list.hpp"
#include "launch/started_programs.hpp"
#include "policy/policy.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// "mutex", "rwlock", ...
const char* to_string(channel::object_kind kind) noexcept;

/// A thread that answers as long as this object lives.
class site_resolver {
 public:
  struct site {
    place_name place;
    channel::object_kind kind{};
    std::uint32_t heeded = 0;  ///< of a named site: the parts of the policy that its locks use (site_request::heeded)
    std::set<std::string> programs;  ///< the names of the programs whose processes have asked for it
  };
  struct diagnostic {
    channel::diagnostic_kind kind{};
    std::uint32_t process = 0;
    std::uint32_t site = 0;
    std::uint32_t other_site = 0;
    place_name place;
  };

  /// Requires: all three live longer, and nobody else uses `names` in that time. `preloaded`: as for
  /// check_takes_library().
  site_resolver(channel_file& channel, const policy::policy_set& policies, place_names& names, std::string preloaded);
  ~site_resolver() { stop(); }
  site_resolver(const site_resolver&) = delete;
  site_resolver& operator=(const site_resolver&) = delete;

  /// Answers what has been asked, and ends. The functions below are to be called after it.
  void stop();

  const std::vector<site>& sites() const noexcept { return sites_; }  ///< that of number i at [i - 1]
  const std::vector<diagnostic>& diagnostics() const noexcept {
    TXSYNC_ASSERT(!thread_.joinable(), "the resolver has stopped when its diagnostics are read");
    return diagnostics_;
  }
  const started_programs& started() const noexcept { return started_; }
  std::uint64_t refused() const noexcept { return refused_; }  ///< places beyond the maximum number of sites

 private:
  void work();
  void look();
  struct last_look {
    std::uint32_t state = 0;
    std::uint64_t since = 0;  // when the slot was first seen in this state
  };
  void answer(channel::site_request& request, std::uint32_t state);
  static void free_if_abandoned(channel::site_request& request, const last_look& look);
  void read_diagnostics();
  /// The answer that a place got.
  struct place_answer {
    std::uint32_t site = 0;
    std::uint32_t frames = 0;
    channel::object_offsets same;
  };
  const place_answer& answer_of(const channel::site_request& request, std::uint32_t process,
                                const std::string& program);
  place_answer find_answer(const channel::site_request& request, std::uint32_t process);
  static std::string key_of(const channel::site_request& request, const std::string& program);

  channel_file& channel_;
  const policy::policy_set& policies_;
  place_names& names_;
  std::map<std::string, place_answer> by_place_;
  std::map<std::string, std::uint32_t> by_name_;
  std::vector<site> sites_;
  site_list list_;
  std::vector<diagnostic> diagnostics_;
  std::vector<bool> diagnostic_read_;
  started_programs started_;
  last_look seen_[channel::head::site_requests_at_once];
  std::uint64_t refused_ = 0;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
