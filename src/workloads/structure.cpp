// SPDX-License-Identifier: Apache-2.0
#include "workloads/structure.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

/// What a run has left for the next one. Runs follow each other.
struct kept_structure {
  const workload* which = nullptr;
  parameters values{};
  unsigned threads = 0;
  std::unique_ptr<structure> data;

  bool is(const workload& other, const parameters& wanted, unsigned how_many) const noexcept {
    return data != nullptr && which == &other && values == wanted && threads == how_many;
  }
};

}  // namespace

outcome run_erased_structure(const workload& which, structure_maker make, structure_runner run,
                             const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(which, values, how)) return refused(wrong);
  static kept_structure kept;
  if (!how.keeps_data || !kept.is(which, values, how.threads)) {
    kept.data = nullptr;  // before there are two
    kept = {&which, values, how.threads, make(values, how)};
  }
  if (kept.data == nullptr) return refused(no_memory);
  const outcome seen = run(*kept.data, how);
  if (!how.keeps_data || seen.fault != nullptr) kept.data = nullptr;
  return seen;
}

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
