// SPDX-License-Identifier: Apache-2.0
// txsync top for a program under txsync run: what its sites count in an interval.
#include "base/print.hpp"
#include "cli/top.hpp"
#include "observe/document/block_paths.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

double per_second(std::uint64_t number, const attach::site_interval& in) {
  return static_cast<double>(number) / in.seconds;
}

}  // namespace

void print_intervals(std::FILE* out, const std::vector<attach::site_interval>& all, std::size_t most) {
  std::fputs("   waits/s  waiters  waiting now acquisitions/s   held %  site\n", out);
  for (std::size_t i = 0; i < all.size() && i < most; ++i) {
    const attach::site_interval& one = all[i];
    if (one.site.is_block()) continue;
    if (!one.site.counts_waits()) {
      base::print(out, "{:>10} {:>8} {:>12} {:>14.0f} {:>8}  {}\n", "-", "-", "-",
                  per_second(one.site.acquisitions, one), "-", observe::printable(one.site.name));
      continue;
    }
    base::print(out, "{:>10.0f} {:>8.2f} {:12} {:>14.0f} {:>8.1f}  {}\n", per_second(one.site.contended, one),
                per_second(one.wait_ns, one) / 1e9, one.waiting_now, per_second(one.site.acquisitions, one),
                per_second(one.site.hold_ns, one) / 1e7, observe::printable(one.site.name));
  }
  if (all.size() > most) base::print(out, "... and {} more\n", all.size() - most);
  observe::print_block_paths(out, "", 0, observe::rows_of(all, &attach::site_interval::site), most);
  if (all.empty()) std::fputs("no lock was taken or waited for\n", out);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
