// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/structure.hpp"

#include "workloads/harness/data_lease.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

/// What the data of a run was made for.
struct structure_origin {
  const workload* which = nullptr;
  parameters values{};
  unsigned threads = 0;
  bool operator==(const structure_origin&) const = default;
};

}  // namespace

outcome run_erased_structure(const workload& which, structure_maker make, structure_runner run,
                             const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(which, values, how)) return refused(wrong);
  data_lease<structure, structure_origin> lease({&which, values, how.threads}, how, [&] { return make(values, how); });
  if (lease.data() == nullptr) return refused(no_memory);
  return lease.ended(run(*lease.data(), how));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
