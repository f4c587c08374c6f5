// SPDX-License-Identifier: Apache-2.0
// The default mutex, at a named site. Statistics and policies find the lock by the site's name.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include <txsync/mutex.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/site.hpp>

namespace {

constinit txsync::site orders_site{"shop.orders"};

class shop {
 public:
  void order(long cents) {
    const std::lock_guard guard(lock_);
    ++orders_;
    revenue_ += cents;
  }

  long orders() const { return orders_; }
  long revenue() const { return revenue_; }

 private:
  txsync::mutex lock_{orders_site};
  // Guarded by lock_.
  long orders_ = 0;
  long revenue_ = 0;
};

/// Prints what was counted at our site: waits exactly, acquisitions from samples.
void print_counts() {
  constexpr std::uint32_t capacity = 16;
  txsync::observe::site_totals sites[capacity];
  const std::uint32_t known = std::min(txsync::observe::snapshot(sites, capacity), capacity);
  for (std::uint32_t i = 0; i < known; ++i) {
    if (sites[i].id != orders_site.id()) continue;
    std::printf("%s: about %llu acquisitions, %llu of them waited, %llu us in all\n", sites[i].name,
                static_cast<unsigned long long>(sites[i].acquisitions),
                static_cast<unsigned long long>(sites[i].contended),
                static_cast<unsigned long long>(sites[i].wait_ns / 1000));
  }
}

}  // namespace

int main() {
  constexpr int customers = 4;
  constexpr int orders_each = 50'000;
  constexpr long price = 3;

  shop store;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < customers; ++i) {
      threads.emplace_back([&store] {
        for (int n = 0; n < orders_each; ++n) store.order(price);
      });
    }
  }
  std::printf("%ld orders, %ld cents\n", store.orders(), store.revenue());
  print_counts();
  return store.orders() == customers * orders_each && store.revenue() == price * store.orders() ? 0 : 1;
}
