// SPDX-License-Identifier: Apache-2.0
#include "cli/abort_samples.hpp"

#include <algorithm>
#include <filesystem>

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

bool has_counters(const std::filesystem::path& sources) {
  std::error_code ignored;
  return std::filesystem::exists(sources / "cpu", ignored) || std::filesystem::exists(sources / "cpu_core", ignored);
}

}  // namespace

std::string why_no_abort_samples(const std::vector<observe::site_record>& sites, const std::string& sources) {
  const bool aborted = std::any_of(sites.begin(), sites.end(), [](const observe::site_record& one) {
    return one.speculation && one.speculation->attempts > one.speculation->commits;
  });
  if (!aborted) return {};
  const std::string what = "the source lines at which attempts ended are not known: ";
  if (!has_counters(sources)) {
    return what + "the machine offers no hardware counters to sample them (no cpu in " + sources + ")";
  }
  return what + "txsync does not read the samples of hardware counters (perf record -e cpu/tx-abort/pp does)";
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli
