// SPDX-License-Identifier: Apache-2.0
#include "tm/attempts.hpp"

#include <algorithm>

#include "workloads/transactions/run.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

observe::attempt_record attempts_so_far() {
  const tm::block_totals seen = workloads::transactions::totals_so_far();
  observe::attempt_record made;
  made.commits = seen.commits;
  made.fallbacks = seen.alone;
  made.attempts = seen.commits;
  for (std::size_t i = 0; i < abort_cause_count; ++i) {
    made.attempts += seen.aborts[i];
    made.aborts.emplace_back(to_string(static_cast<abort_cause>(i)), seen.aborts[i]);
  }
  return made;
}

void print_attempts(std::FILE* out, const request& wanted, const std::vector<cell>& cells) {
  std::fprintf(out, "\nAborts of atomic blocks, filling and run-in included\n  %-16s %7s  %-16s %12s %10s %9s  %s\n",
               "section", "threads", "algorithm", "commits", "aborts/1k", "alone", "most of them");
  for (const cell& one : cells) {
    if (!one.attempts || one.attempts->attempts == one.attempts->commits) continue;
    const observe::attempt_record& seen = *one.attempts;
    const auto most = std::max_element(seen.aborts.begin(), seen.aborts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const double aborts = static_cast<double>(seen.attempts - seen.commits);
    std::fprintf(out, "  %-16s %7u  %-16s %12llu %10.2f %9llu  %s\n", wanted.sections[one.section].name.c_str(),
                 one.threads, wanted.subjects[one.subject].name, static_cast<unsigned long long>(seen.commits),
                 1'000 * aborts / static_cast<double>(std::max<std::uint64_t>(seen.commits, 1)),
                 static_cast<unsigned long long>(seen.fallbacks), most->first.c_str());
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
