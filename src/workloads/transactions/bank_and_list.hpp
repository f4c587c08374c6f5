// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/transactions/accounts.hpp"
#include "workloads/transactions/chains.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions {

/// What runs the sections of one of the two structures: a system may have a part for each.
template <class System>
auto& part_for_bank(System& system) noexcept {
  if constexpr (requires { system.bank(); }) {
    return system.bank();
  } else {
    return system;
  }
}
template <class System>
auto& part_for_list(System& system) noexcept {
  if constexpr (requires { system.list(); }) {
    return system.list();
  } else {
    return system;
  }
}

/// Transfers of a bank of 1,024 accounts beside operations on sorted chains, in one heap. So there are short sections that
/// write, and long ones that mostly read.
template <template <class> class Cell>
class bank_and_list {
 public:
  struct visitor {
    random_stream random;
    typename accounts<Cell>::visitor bank;
    typename chains<Cell>::visitor& list;
  };

  explicit bank_and_list(const shape_values& shape) : shape_(shape), bank_(shape_of_bank(shape)), list_(shape) {}

  bool ok() const noexcept { return bank_.ok() && list_.ok(); }
  visitor visitor_of(unsigned thread) {
    return {random_stream(shape_.seed, thread + shape_.threads + 1), bank_.visitor_of(thread),
            list_.visitor_of(thread)};
  }
  template <class System>
  void fill(System& system) {
    list_.fill(part_for_list(system));
  }
  template <class System>
  void empty(System& system) {
    list_.empty(part_for_list(system));
  }
  template <class System>
  void step(System& system, visitor& mine) {
    if (mine.random.percent(shape_.transfers)) {
      bank_.step(part_for_bank(system), mine.bank);
    } else {
      list_.step(part_for_list(system), mine.list);
    }
  }
  const char* complaint() {
    const char* const wrong = bank_.complaint();
    return wrong != nullptr ? wrong : list_.complaint();
  }
  std::uint64_t hash() {
    running_hash all;
    all.add(bank_.hash());
    all.add(list_.hash());
    return all.value();
  }

 private:
  static shape_values shape_of_bank(const shape_values& shape) noexcept {
    shape_values bank = shape;
    bank.size = 1'024;
    bank.updates = 100;
    return bank;
  }

  shape_values shape_;
  accounts<Cell> bank_;
  chains<Cell> list_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions
