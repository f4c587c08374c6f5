// SPDX-License-Identifier: Apache-2.0
// Replaces the counters of sites in libtxsync-openmp.so. Its barriers end coarsened attempts. Its own copy of elision
// never has any, so nothing is counted here.
#include <txsync/observe/attempts.hpp>
#include <txsync/observe/site_state.hpp>
#include <txsync/site.hpp>

#include "observe/commit_counts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

constinit detail::site_state detail::undecided;
constinit site site::unnamed_{"(unnamed)"};
std::uint32_t site::register_site() noexcept { return 0; }

namespace observe {
constinit std::atomic<const commits_left*> where_commits_are_left{nullptr};
[[gnu::tls_model("initial-exec")]] constinit thread_local own_commits my_commits;
bool add_commits(site&, const commits_left& left) noexcept {
  left.set(1);
  return false;
}
void count_joined(site&, std::uint32_t) noexcept {}
}  // namespace observe

namespace observe::detail {
void lost_in_attempts(std::uint32_t, std::uint64_t, std::uint32_t) noexcept {}
}  // namespace observe::detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND
