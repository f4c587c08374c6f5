// SPDX-License-Identifier: Apache-2.0
#include "workloads/structure.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

outcome run_erased_structure(const workload& which, structure_maker make, structure_runner run,
                             const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(which, values, how)) return refused(wrong);
  const std::unique_ptr<structure> data = make(values, how);
  return data != nullptr ? run(*data, how) : refused(no_memory);
}

}  // namespace txsync::inline TXSYNC_BACKEND::workloads
