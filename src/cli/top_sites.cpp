// SPDX-License-Identifier: Apache-2.0
// txsync top for a program under txsync run: what its sites count in an interval.
#include "cli/top.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

double per_second(std::uint64_t number, const attach::site_interval& in) {
  return static_cast<double>(number) / in.seconds;
}

}  // namespace

void print_intervals(std::FILE* out, const std::vector<attach::site_interval>& all, std::size_t most) {
  std::fprintf(out, "%10s %8s %12s %14s %8s  site\n", "waits/s", "waiters", "waiting now", "acquisitions/s", "held %");
  for (std::size_t i = 0; i < all.size() && i < most; ++i) {
    const attach::site_interval& one = all[i];
    if (!one.site.counts_waits()) {
      std::fprintf(out, "%10s %8s %12s %14.0f %8s  %s\n", "-", "-", "-", per_second(one.site.acquisitions, one), "-",
                   observe::printable(one.site.name).c_str());
      continue;
    }
    std::fprintf(out, "%10.0f %8.2f %12u %14.0f %8.1f  %s\n", per_second(one.site.contended, one),
                 per_second(one.wait_ns, one) / 1e9, one.waiting_now, per_second(one.site.acquisitions, one),
                 per_second(one.site.hold_ns, one) / 1e7, observe::printable(one.site.name).c_str());
  }
  if (all.size() > most) std::fprintf(out, "... and %zu more\n", all.size() - most);
  if (all.empty()) std::fputs("no lock was taken or waited for\n", out);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
