// SPDX-License-Identifier: Apache-2.0
// The names of a run's sites in a file beside the channel, for `txsync top`: the channel has only numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

#include "base/descriptor.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// One line: "NUMBER<tab>KIND<tab>NAME<tab>WHERE<tab>MODULE". All texts are printable, without tabs.
struct listed_site {
  std::uint32_t number = 0;  ///< 1 and up
  std::string kind;
  std::string name;
  std::string where;
  std::string module;
};

/// The launcher's end. A site that cannot be written is missing in the list: a run does not fail because of that.
class site_list {
 public:
  /// Beside the file of the channel.
  explicit site_list(const std::string& channel);
  ~site_list();
  site_list(const site_list&) = delete;
  site_list& operator=(const site_list&) = delete;

  void add(const listed_site& site);

  static std::string path_beside(const std::string& channel);

 private:
  std::string path_;
  base::descriptor file_;
  bool made_ = false;
};

/// The sites in such a text, by whole lines. Lines in another form are left out.
std::vector<listed_site> parse_site_list(const std::string& text);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
