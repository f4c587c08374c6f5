// SPDX-License-Identifier: Apache-2.0
#include "launch/abort_samples.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

bool any_aborted(const std::vector<observe::site_record>& sites) {
  return std::any_of(sites.begin(), sites.end(), [](const observe::site_record& one) {
    return one.speculation && one.speculation->attempts > one.speculation->commits;
  });
}

}  // namespace

abort_sampling choose_abort_sampling(bool attempts_work, const std::string& sources) {
  if (!attempts_work) return {};
  try {
    return {.event = find_abort_event(sources)};
  } catch (const no_event& error) {
    return {.why_not = error.what()};
  }
}

std::vector<std::string> abort_remarks(const std::vector<observe::site_record>& sites, const std::string& why_not,
                                       const std::optional<code_samples>& samples) {
  if (!any_aborted(sites)) return {};
  const std::string not_known = "the source lines at which attempts ended are not known: ";
  const std::string why = samples && why_not.empty() ? samples->why_not : why_not;
  if (!why.empty()) return {not_known + why};
  if (!samples) return {};
  if (samples->samples == 0) {
    return {not_known + (samples->lost == 0 ? "no abort was sampled"
                                            : fmt::format("all {} abort samples were lost", samples->lost))};
  }
  std::vector<std::string> made;
  const std::uint64_t all = samples->samples + samples->lost;
  if (samples->lost != 0)
    made.push_back(fmt::format("{} of {} abort samples were lost: they came too fast", samples->lost, all));
  if (samples->damaged != 0)
    made.push_back(fmt::format("{} damaged records of abort samples were skipped", samples->damaged));
  if (samples->left_out != 0)
    made.push_back(fmt::format("{} of {} abort samples were left out: there is room for {} places in the code",
                               samples->left_out, all, sample_adder::max_places));
  if (samples->unnamed != 0)
    made.push_back(
        fmt::format("{} records of started processes and mapped files were left out: samples there have no names",
                    samples->unnamed));
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
