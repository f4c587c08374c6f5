// SPDX-License-Identifier: Apache-2.0
// A bank with one elided lock. If the machine has hardware transactions that work, transfers between different accounts
// run side by side. Otherwise they take the lock. docs/elision.md explains elision.
#include <array>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include <txsync/machine/attempt.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/elided_condition_variable.hpp>

namespace {

/// The site names the bank's lock in tables and policy files, and learns whether elision pays.
constinit txsync::site accounts_site{"bank.accounts"};

constexpr std::size_t accounts = 64;
constexpr long at_first = 100;
constexpr std::size_t tenants_account = 0;

class bank {
 public:
  bank() { balances_.fill(at_first); }

  /// False: the account has not enough money.
  bool transfer(std::size_t from, std::size_t to, long amount) {
    const txsync::elided_guard guard(lock_);
    if (balances_[from] < amount) return false;
    balances_[from] -= amount;
    balances_[to] += amount;
    return true;
  }

  void pay_in(std::size_t account, long amount) {
    const txsync::elided_guard guard(lock_);
    balances_[account] += amount;
    paid_in_.notify_one();  // wakes after the commit
  }

  /// Waits until the account has enough money. A wait commits what the critical section has done before it.
  void withdraw(std::size_t account, long amount) {
    const txsync::elided_guard guard(lock_);
    paid_in_.wait(lock_, [&] { return balances_[account] >= amount; });
    balances_[account] -= amount;
    ++withdrawals_;
    // Output would abort an attempt. The action runs once the critical section has committed, and does not run for an
    // aborted attempt.
    txsync::on_commit([count = withdrawals_]() noexcept {
      if (count % 25 == 0) std::printf("rent number %d is paid\n", count);
    });
  }

  long total() {
    const txsync::elided_guard guard(lock_);
    long sum = 0;
    for (const long balance : balances_) sum += balance;
    return sum;
  }

 private:
  // Each attempt reads the lock word: no data that critical sections write lies on the cache lines of the lock.
  alignas(128) txsync::elided<txsync::mutex> lock_{accounts_site};
  alignas(128) txsync::elided_condition_variable paid_in_;
  // Guarded by lock_.
  alignas(128) std::array<long, accounts> balances_{};
  int withdrawals_ = 0;
};

/// Moves money between the accounts that are not the tenant's.
void transfer_at_random(bank& all, unsigned seed, int times) {
  unsigned random = seed;
  const auto other_account = [&random] {
    random = random * 1664525 + 1013904223;  // linear congruential (Knuth, vol. 2, 3.3.4)
    return 1 + (random >> 16) % (accounts - 1);
  };
  for (int n = 0; n < times; ++n) {
    const std::size_t from = other_account();
    (void)all.transfer(from, other_account(), 7);
  }
}

}  // namespace

int main() {
  constexpr int tellers = 3;
  constexpr int transfers_each = 20'000;
  constexpr int rents = 100;
  constexpr long rent = 50;
  constexpr long wage = 10;

  const bool attempts = txsync::machine::htm().attempts;
  std::printf("hardware transactions %s\n", attempts ? "work: sections are elided" : "do not work: plain locks");

  bank all;
  {
    std::vector<std::jthread> threads;
    threads.reserve(tellers + 2);
    for (unsigned i = 0; i < tellers; ++i) threads.emplace_back(transfer_at_random, std::ref(all), i, transfers_each);
    threads.emplace_back([&all] {
      for (int n = 0; n < rents; ++n) all.withdraw(tenants_account, rent);
    });
    threads.emplace_back([&all] {
      for (long paid = 0; paid < rents * rent; paid += wage) all.pay_in(tenants_account, wage);
    });
  }
  if (attempts) std::printf("faster in the end: %s\n", txsync::takes_lock(accounts_site) ? "the lock" : "elision");
  const long expected = static_cast<long>(accounts) * at_first;
  std::printf("%ld of %ld\n", all.total(), expected);
  return all.total() == expected ? 0 : 1;
}
