// SPDX-License-Identifier: Apache-2.0
// What generate.py puts into the locks' sources: operations that are another one in the run of their mutant.
#pragma once

#include <atomic>
#include <type_traits>

#include <txsync_backend/runtime.h>

namespace mutated {

/// Whether this is the run of that mutant. The machine is asked, so that no access is added.
constexpr bool on(unsigned mutant) noexcept { return !std::is_constant_evaluated() && txsync_sim_variant() == mutant; }

template <unsigned mutant>
constexpr bool turned(bool value) noexcept {
  return value != on(mutant);
}

/// A place of the source, by the number of its first mutant.
template <unsigned first>
struct at {};

template <class T>
class atomic : public std::atomic<T> {
  using base = std::atomic<T>;
  using order = std::memory_order;

 public:
  using base::base;
  using base::compare_exchange_strong;
  using base::compare_exchange_weak;
  using base::exchange;
  using base::store;
  constexpr atomic() noexcept = default;

  template <unsigned first>
  void store(at<first>, T value, order how = order::seq_cst) noexcept {
    if (on(first)) return;
    base::store(value, on(first + 1) && how == order::seq_cst ? order::relaxed : how);
  }
  template <unsigned first>
  T exchange(at<first>, T value, order how = order::seq_cst) noexcept {
    return modify<first>([&](T) { return value; }, [&] { return base::exchange(value, how); });
  }
  /// In a source that has no mutants.
  T fetch_add(T value, order how = order::seq_cst) noexcept { return base::fetch_add(value, how); }
  template <unsigned first>
  T fetch_add(at<first>, T value, order how = order::seq_cst) noexcept {
    return modify<first>([&](T old) { return static_cast<T>(old + value); },
                         [&] { return base::fetch_add(value, how); });
  }
  template <unsigned first>
  T fetch_sub(at<first>, T value, order how = order::seq_cst) noexcept {
    return modify<first>([&](T old) { return static_cast<T>(old - value); },
                         [&] { return base::fetch_sub(value, how); });
  }
  template <unsigned first>
  T fetch_and(at<first>, T value, order how = order::seq_cst) noexcept {
    return modify<first>([&](T old) { return static_cast<T>(old & value); },
                         [&] { return base::fetch_and(value, how); });
  }
  template <unsigned first>
  T fetch_or(at<first>, T value, order how = order::seq_cst) noexcept {
    return modify<first>([&](T old) { return static_cast<T>(old | value); },
                         [&] { return base::fetch_or(value, how); });
  }
  template <unsigned first, class... Orders>
  bool compare_exchange_strong(at<first>, T& expected, T desired, Orders... how) noexcept {
    return compare<first>(expected, desired, [&] { return base::compare_exchange_strong(expected, desired, how...); });
  }
  template <unsigned first, class... Orders>
  bool compare_exchange_weak(at<first>, T& expected, T desired, Orders... how) noexcept {
    return compare<first>(expected, desired, [&] { return base::compare_exchange_weak(expected, desired, how...); });
  }

 private:
  template <unsigned first, class Change, class Right>
  T modify(Change change, Right right) noexcept {
    if (!on(first) && !on(first + 1)) return right();
    const T old = base::load(order::relaxed);
    if (on(first)) base::store(change(old), order::relaxed);
    return old;
  }
  template <unsigned first, class Right>
  bool compare(T& expected, T desired, Right right) noexcept {
    if (!on(first) && !on(first + 1) && !on(first + 2)) return right();
    const T found = base::load(order::relaxed);
    const bool equal = found == expected;
    if (!equal && !on(first + 2)) {
      expected = found;
      return false;
    }
    if (!on(first + 1)) base::store(desired, order::relaxed);
    return true;
  }
};

}  // namespace mutated
