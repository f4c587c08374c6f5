// SPDX-License-Identifier: Apache-2.0
#include "peers/peers.hpp"

#include <algorithm>
#include <iterator>

#include <txsync/machine/attempt.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

#if !defined(TXSYNC_PEER_TBB)
std::span<const workloads::subject> tbb_subjects() noexcept { return {}; }
std::span<const workloads::subject> tbb_ahead_subjects() noexcept { return {}; }
#endif
#if !defined(TXSYNC_PEER_ABSL)
std::span<const workloads::subject> absl_subjects() noexcept { return {}; }
std::span<const workloads::subject> absl_ahead_subjects() noexcept { return {}; }
#endif
#if !defined(TXSYNC_PEER_CK)
std::span<const workloads::subject> ck_subjects() noexcept { return {}; }
std::span<const workloads::subject> ck_ahead_subjects() noexcept { return {}; }
#endif

#ifndef TXSYNC_PEER_ITM
std::span<const workloads::subject> itm_subjects() noexcept { return {}; }
#endif

std::vector<workloads::subject> all_ahead_subjects() {
  std::vector<workloads::subject> all;
  for (const auto group : {system_ahead_subjects(), tbb_ahead_subjects(), absl_ahead_subjects(), ck_ahead_subjects()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

std::vector<workloads::subject> all_subjects() {
  std::vector<workloads::subject> all;
  for (const auto group : {workloads::subjects(), tbb_subjects(), absl_subjects(), ck_subjects(), model_subjects()}) {
    std::copy_if(group.begin(), group.end(), std::back_inserter(all), [](const auto& one) {
      return !one.simulated_only && !one.is_barrier && !one.is_algorithm &&
             (!one.speculates || machine::htm().attempts);
    });
  }
  return all;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
