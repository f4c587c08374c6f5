// SPDX-License-Identifier: Apache-2.0
#include "peers/go_model.hpp"
#include "peers/parking_lot_model.hpp"
#include "peers/peers.hpp"
#include "peers/unbounded_mutex.hpp"
#include "workloads/subjects/make_subject.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using namespace workloads;

constexpr subject table[] = {
    make_subject<lockable<parking_lot_model>>("parking_lot model", true, waiting::parks,
                                              "Rust's parking_lot by our own model: hands over by a timer"),
    make_subject<lockable<go_model>>("go model", true, waiting::parks,
                                     "Go's sync.Mutex by our own model: hands over after a wait of 1 ms"),
    make_subject<lockable<unbounded_mutex>>("unbounded futex", false, waiting::parks,
                                            "the mutex that futex was before its waiters had a bound"),
};

}  // namespace

std::span<const subject> model_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
