// SPDX-License-Identifier: Apache-2.0
// A table that many threads read, and one thread changes now and then. Readers share the lock; the writer has it alone.
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <txsync/shared_mutex.hpp>
#include <txsync/site.hpp>

namespace {

constinit txsync::site prices_site{"shop.prices"};

class price_table {
 public:
  price_table() : prices_{{"apple", 100}, {"pear", 100}} {}

  /// The sum over all articles at one moment.
  long total() const {
    const std::shared_lock guard(lock_);
    long sum = 0;
    for (const auto& [article, cents] : prices_) sum += cents;
    return sum;
  }

  /// Raises one price by the amount by which it lowers the other.
  void shift(const std::string& dearer, const std::string& cheaper) {
    const std::unique_lock guard(lock_);
    ++prices_.at(dearer);
    --prices_.at(cheaper);
  }

 private:
  mutable txsync::shared_mutex lock_{prices_site};
  std::map<std::string, long> prices_;  // guarded by lock_
};

}  // namespace

int main() {
  constexpr int readers = 3;
  constexpr int reads_each = 20'000;
  constexpr int changes = 2'000;

  price_table table;
  std::atomic<int> torn = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < readers; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < reads_each; ++n) {
          if (table.total() != 200) ++torn;
        }
      });
    }
    threads.emplace_back([&table] {
      for (int n = 0; n < changes; ++n) table.shift("apple", "pear");
    });
  }
  std::printf("%d reads, %d of them torn\n", readers * reads_each, torn.load());
  return torn == 0 && table.total() == 200 ? 0 : 1;
}
