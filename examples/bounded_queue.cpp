// SPDX-License-Identifier: Apache-2.0
// A queue that holds at most N elements. Producers wait while it is full, consumers while it is empty.
#include <array>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include <txsync/condition_variable.hpp>
#include <txsync/mutex.hpp>
#include <txsync/site.hpp>

namespace {

constinit txsync::site queue_site{"example.queue"};

template <typename T, std::size_t N>
class bounded_queue {
 public:
  void push(T value) {
    std::unique_lock guard(lock_);
    not_full_.wait(guard, [this] { return count_ < N; });
    slots_[(first_ + count_) % N] = value;
    ++count_;
    not_empty_.notify_one();  // wakes when the lock is unlocked, so the woken thread finds it free
  }

  T pop() {
    std::unique_lock guard(lock_);
    not_empty_.wait(guard, [this] { return count_ > 0; });
    const T value = slots_[first_];
    first_ = (first_ + 1) % N;
    --count_;
    not_full_.notify_one();
    return value;
  }

 private:
  txsync::mutex lock_{queue_site};
  txsync::condition_variable not_full_;
  txsync::condition_variable not_empty_;
  // Guarded by lock_.
  std::array<T, N> slots_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

int main() {
  constexpr int pairs = 2;
  constexpr int items_each = 20'000;

  bounded_queue<int, 8> queue;
  std::array<long, pairs> sums{};
  {
    std::vector<std::jthread> threads;
    for (int p = 0; p < pairs; ++p) {
      threads.emplace_back([&queue] {
        for (int n = 1; n <= items_each; ++n) queue.push(n);
      });
      threads.emplace_back([&queue, &sum = sums[static_cast<std::size_t>(p)]] {
        long mine = 0;
        for (int n = 0; n < items_each; ++n) mine += queue.pop();
        sum = mine;
      });
    }
  }
  long total = 0;
  for (const long sum : sums) total += sum;
  const long expected = long{pairs} * items_each * (items_each + 1) / 2;
  std::printf("passed %d items, sum %ld of %ld\n", pairs * items_each, total, expected);
  return total == expected ? 0 : 1;
}
