// SPDX-License-Identifier: Apache-2.0
#include "peers/ck_locks.h"
#include "peers/peers.hpp"
#include "workloads/subjects/make_subject.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using namespace workloads;

template <void (*Init)(txsync_ck_storage*), void (*Lock)(txsync_ck_storage*), void (*Unlock)(txsync_ck_storage*)>
class ck_lock {
 public:
  struct slot {};
  ck_lock() { Init(&lock_); }
  void lock(slot&) { Lock(&lock_); }
  void unlock(slot&) { Unlock(&lock_); }

 private:
  txsync_ck_storage lock_{};
};

class ck_mcs {
 public:
  using slot = txsync_ck_storage;
  ck_mcs() { txsync_ck_mcs_init(&lock_); }
  void lock(slot& node) { txsync_ck_mcs_lock(&lock_, &node); }
  void unlock(slot& node) { txsync_ck_mcs_unlock(&lock_, &node); }

 private:
  txsync_ck_storage lock_{};
};

using ck_fas = ck_lock<txsync_ck_fas_init, txsync_ck_fas_lock, txsync_ck_fas_unlock>;
using ck_ticket = ck_lock<txsync_ck_ticket_init, txsync_ck_ticket_lock, txsync_ck_ticket_unlock>;

constexpr subject table[] = {
    make_subject<ck_fas>("ck_fas", true, waiting::spins, "Concurrency Kit: test-and-set"),
    make_subject<ck_ticket>("ck_ticket", true, waiting::spins, "Concurrency Kit: ticket, FIFO"),
    make_subject<ck_mcs>("ck_mcs", true, waiting::spins, "Concurrency Kit: MCS, FIFO"),
};

constexpr subject ahead_table[] = {
    make_ahead_subject<ck_fas>("ck_fas+ahead", waiting::spins, "ck_fas, prefetching before lock()"),
    make_ahead_subject<ck_ticket>("ck_ticket+ahead", waiting::spins, "ck_ticket, prefetching before lock()"),
    make_ahead_subject<ck_mcs>("ck_mcs+ahead", waiting::spins, "ck_mcs, prefetching before lock()"),
};

}  // namespace

std::span<const subject> ck_ahead_subjects() noexcept { return ahead_table; }
std::span<const subject> ck_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
