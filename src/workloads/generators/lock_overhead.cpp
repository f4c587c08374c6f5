// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/lock_overhead.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr parameter keys[] = {
    {"batch", 100, 1, 1'000'000, "pairs of lock and unlock between two looks at whether the run is over"},
};
constexpr setting thesis[] = {{"batch", 100}};
constexpr preset presets[] = {
    {"thesis", "thesis on TSX in InnoDB, Fig 3.10", thesis, 1},
};

}  // namespace

constinit const workload lock_overhead_workload{
    .name = "lock-overhead",
    .summary = "lock and unlock and nothing else, each thread a lock of its own",
    .operation = "pairs",
    .keys = keys,
    .presets = presets,
};

std::uint64_t lock_overhead_batch(const parameters& values) noexcept { return values[0]; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
