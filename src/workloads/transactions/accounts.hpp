// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/harness/pages.hpp"
#include "workloads/transactions/access.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions {

/// Transfers between two accounts (two reads, two writes), and readings of one.
template <template <class> class Cell>
class accounts {
 public:
  struct visitor {
    random_stream random;
    std::int64_t seen = 0;
  };

  explicit accounts(const shape_values& shape) : shape_(shape), all_(shape.size) {}

  bool ok() const noexcept { return all_.ok(); }
  visitor visitor_of(unsigned thread) const { return {random_stream(shape_.seed, thread)}; }

  template <class System>
  void fill(System&) noexcept {}
  template <class System>
  void empty(System&) noexcept {}

  template <class System>
  void step(System& system, visitor& mine) {
    const std::uint64_t from = mine.random.below(shape_.size);
    if (!mine.random.percent(shape_.updates)) {
      mine.seen += system.read([&](auto& access) { return access.read(all_[from].balance); });
      return;
    }
    const std::uint64_t drawn = mine.random.below(shape_.size);
    const std::uint64_t to = drawn != from ? drawn : (drawn + 1) % shape_.size;
    system.write([&](auto& access) {
      access.write(all_[from].balance, access.read(all_[from].balance) - 1);
      access.write(all_[to].balance, access.read(all_[to].balance) + 1);
    });
  }

  const char* complaint() {
    lone_access access;
    std::int64_t sum = 0;
    for (account& one : all_) sum += access.read(one.balance);
    return sum == 0 ? nullptr : "the balances do not add up to the money that was in the bank";
  }

  std::uint64_t hash() {
    lone_access access;
    running_hash all;
    for (account& one : all_) all.add(static_cast<std::uint64_t>(access.read(one.balance)));
    return all.value();
  }

 private:
  struct account {
    std::int64_t number = 0;
    Cell<std::int64_t> balance{0};
  };

  shape_values shape_;
  page_array<account> all_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions
