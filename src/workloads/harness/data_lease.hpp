// SPDX-License-Identifier: Apache-2.0
// Data that a run leaves for a later one (plan::keeps_data).
#pragma once

#include <memory>
#include <utility>

#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// The data of a run: new, or left by an earlier run with the same origin. Runs follow each other.
template <class Data, class Origin = parameters>
class data_lease {
 public:
  /// make() returns new data as a std::unique_ptr<Data>.
  template <class Make>
  data_lease(const Origin& origin, const plan& how, const Make& make) : keeps_(how.keeps_data) {
    if (keeps_ && left.data != nullptr && left.origin == origin) {
      data_ = std::move(left.data);
      return;
    }
    left.data = nullptr;  // freed first, so that there are never two
    left.origin = origin;
    data_ = make();
  }
  data_lease(const data_lease&) = delete;
  data_lease& operator=(const data_lease&) = delete;
  ~data_lease() {
    if (keeps_ && sound_) left.data = std::move(data_);
  }

  /// Null if make() returned null.
  Data* data() const noexcept { return data_.get(); }

  /// Ends the run with this outcome. Data is left for later runs only if there was no fault and it is `sound`.
  outcome ended(const outcome& seen, bool sound = true) noexcept {
    sound_ = sound && seen.fault == nullptr;
    return seen;
  }
  /// The same for Data that checks itself by the number of a run's operations and settles with them. `excluded`: the
  /// sections excluded each other, so that nothing they wrote is lost.
  template <class... Counts>
  outcome checked(team_result& result, bool excluded, Counts... counts) noexcept {
    const char* const wrong = excluded ? data_->complaint(counts...) : nullptr;
    data_->settle(counts...);
    return ended(result.checked(wrong, keeps_ ? 0 : data_->hash()), excluded);
  }

 private:
  struct leavings {
    Origin origin{};
    std::unique_ptr<Data> data;
  };
  static inline leavings left;

  bool keeps_;
  bool sound_ = false;
  std::unique_ptr<Data> data_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
