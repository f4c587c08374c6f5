// SPDX-License-Identifier: Apache-2.0
#include "tm/attempts.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

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

void print_paths(std::FILE* out, const request& wanted, const std::vector<cell>& cells) {
  bool is_first = true;
  for (const cell& one : cells) {
    const section& where = wanted.sections[one.section];
    const std::string_view subject = wanted.subjects[one.subject].name;
    if (subject != "tm_auto" && where.only.empty()) continue;
    for (const observe::site_record& block : one.sites.records()) {
      if (!block.is_block()) continue;
      if (std::exchange(is_first, false)) {
        std::fprintf(out, "\nPaths of blocks, filling and run-in included\n  %-18s %7s  %-14s %-24s %12s %12s\n",
                     "section", "threads", "algorithm", "block", "in hardware", "in software");
      }
      std::fprintf(out, "  %-18s %7u  %-14s %-24s %12llu %12llu\n", where.name.c_str(), one.threads, subject.data(),
                   block.name.c_str(),
                   static_cast<unsigned long long>(block.speculation ? block.speculation->commits : 0),
                   static_cast<unsigned long long>(block.transactions ? block.transactions->commits : 0));
    }
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
