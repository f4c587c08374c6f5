// SPDX-License-Identifier: Apache-2.0
// GCC's transactional memory, whose compiler (-fgnu-tm) sees to the accesses of plain code. The method is the library's
// own choice (without hardware transactions ml_wt: ownership records, written through), or ITM_DEFAULT_METHOD's.
#include "peers/peers.hpp"
#include "workloads/transactions/run.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

struct gnu_transactions {
  template <class T>
  using cell = workloads::transactions::plain_cell<T>;

  template <class Body>
  static auto read(const Body& body) {
    return write(body);
  }
  template <class Body>
  static auto write(const Body& body) {
    workloads::transactions::plain_access access;
    if constexpr (std::is_void_v<decltype(body(access))>) {
      __transaction_atomic { body(access); }
    } else {
      decltype(body(access)) answer;
      __transaction_atomic { answer = body(access); }
      return answer;
    }
  }
};

workloads::outcome run_gnu(const workloads::parameters& values, const workloads::plan& how) {
  gnu_transactions system;
  return workloads::transactions::run(system, values, how);
}

constexpr workloads::subject make() noexcept {
  workloads::subject made{.name = "libitm",
                          .peer = true,
                          .how = workloads::waiting::spins,
                          .is_algorithm = true,
                          .summary = "GCC's transactional memory, by the method that it chooses"};
  made.run[static_cast<unsigned>(workloads::workload_id::transactions)] = run_gnu;
  return made;
}

constexpr workloads::subject table[] = {make()};

}  // namespace

std::span<const workloads::subject> itm_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
