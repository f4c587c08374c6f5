// SPDX-License-Identifier: Apache-2.0
#include "launch/wait_remarks.hpp"

#include "launch/policy_remarks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

std::string remark_on_waits(const std::vector<observe::site_record>& sites, bool has_such, bool attempts_work) {
  std::vector<std::string> names;
  bool have_others = false;
  for (const observe::site_record& site : sites) {
    if (site.unwatched == 0) continue;
    names.push_back(site.name);
    have_others |= site.counts_waits();
  }
  if (!names.empty()) {
    return "locks such as elided<futex_mutex> do not count their waits: at " + listed(names) +
           (have_others ? "; waits that are shown there are those for other locks" : "");
  }
  if (!has_such || attempts_work) return "";
  return "hardware transactions do not work here, so locks such as elided<futex_mutex> do not count anything: neither "
         "they nor their waits are in the table";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
