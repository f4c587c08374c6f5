// SPDX-License-Identifier: Apache-2.0
// What C++20 offers to threads, used by four of them. Prints "all right" or what was not.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <future>
#include <latch>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <set>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using namespace std::chrono_literals;
constexpr int threads = 4;
constexpr int rounds = 100;

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      std::printf("line %d: not " #condition "\n", __LINE__); \
      std::exit(1);                                           \
    }                                                         \
  } while (false)

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i) team.emplace_back([&body, i] { body(i); });
  for (std::thread& one : team) one.join();
}

void containers_under_a_mutex() {
  std::mutex mutex;
  std::map<std::string, int> by_name;
  std::unordered_map<int, std::string> by_number;
  std::list<int> in_order;
  std::set<int> once;
  std::deque<std::unique_ptr<int>> owned;
  in_threads([&](int me) {
    for (int i = 0; i < rounds; ++i) {
      const int number = me * rounds + i;
      const std::lock_guard hold(mutex);
      by_name["a rather long name of a number: " + std::to_string(number)] = number;
      by_number[number] = std::to_string(number) + std::string(30, 'x');
      in_order.push_front(number);
      once.insert(number % 37);
      owned.push_back(std::make_unique<int>(number));
      if (i % 3 == 0) {
        by_number.erase(number);
        in_order.pop_front();
        owned.pop_front();
      }
    }
  });
  const std::size_t third = threads * static_cast<std::size_t>((rounds + 2) / 3);
  CHECK(by_name.size() == threads * rounds);
  CHECK(by_number.size() == threads * rounds - third);
  CHECK(in_order.size() == threads * rounds - third && owned.size() == in_order.size());
  CHECK(once.size() == 37);
  for (const auto& [name, number] : by_name) CHECK(name.ends_with(": " + std::to_string(number)));
  for (const auto& [number, text] : by_number) CHECK(text == std::to_string(number) + std::string(30, 'x'));
}

void exceptions_in_sections() {
  std::mutex mutex;
  long thrown = 0;
  long sum = 0;
  in_threads([&](int me) {
    for (int i = 0; i < rounds; ++i) {
      try {
        const std::lock_guard hold(mutex);
        sum += i;
        if ((i + me) % 5 == 0) throw std::out_of_range("number " + std::to_string(i));
      } catch (const std::exception& error) {
        CHECK(error.what() == "number " + std::to_string(i));
        const std::lock_guard hold(mutex);
        ++thrown;
      }
    }
  });
  CHECK(thrown == threads * rounds / 5 && sum == threads * rounds * (rounds - 1) / 2);
}

void locks_of_all_kinds() {
  std::recursive_mutex recursive;
  std::timed_mutex timed;
  std::shared_mutex shared;
  std::shared_timed_mutex shared_timed;
  long counts[4] = {};
  in_threads([&](int me) {
    for (int i = 0; i < rounds; ++i) {
      {
        const std::scoped_lock both(recursive, timed);
        const std::lock_guard again(recursive);
        ++counts[0];
      }
      if (timed.try_lock_for(1s)) {
        ++counts[1];
        timed.unlock();
      }
      if (me == 0) {
        const std::unique_lock hold(shared);
        ++counts[2];
        ++counts[3];
      } else {
        const std::shared_lock hold(shared);
        CHECK(counts[2] == counts[3]);
      }
      if (shared_timed.try_lock_shared_for(1s)) shared_timed.unlock_shared();
    }
  });
  CHECK(counts[0] == threads * rounds && counts[1] == threads * rounds && counts[2] == rounds);
  const std::lock_guard hold(timed);
  std::thread([&] { CHECK(!timed.try_lock_for(5ms)); }).join();
}

void a_queue_with_conditions() {
  std::mutex mutex;
  std::condition_variable ready;
  std::condition_variable_any stopped;
  std::deque<std::string> queue;
  long received = 0;
  in_threads([&](int me) {
    for (int i = 0; i < rounds; ++i) {
      if (me % 2 == 0) {
        {
          const std::lock_guard hold(mutex);
          queue.push_back("message " + std::to_string(i));
        }
        i % 2 == 0 ? ready.notify_one() : ready.notify_all();
      } else {
        std::unique_lock hold(mutex);
        ready.wait(hold, [&] { return !queue.empty(); });
        CHECK(queue.front().starts_with("message "));
        queue.pop_front();
        ++received;
      }
    }
  });
  CHECK(received == threads / 2 * rounds && queue.empty());
  std::unique_lock hold(mutex);
  CHECK(ready.wait_for(hold, 3ms) == std::cv_status::timeout);
  CHECK(!ready.wait_until(hold, std::chrono::system_clock::now() + 3ms, [] { return false; }));
  hold.unlock();
  std::jthread waits([&](const std::stop_token& stop) {
    std::unique_lock own(mutex);
    CHECK(!stopped.wait(own, stop, [] { return false; }));
  });
  waits.request_stop();
}

void futures_and_the_rest() {
  std::promise<std::string> promise;
  std::thread keeper([&] { promise.set_value("kept"); });
  CHECK(promise.get_future().get() == "kept");
  keeper.join();
  auto later = std::async(std::launch::async, [] { return 6 * 7; });
  CHECK(later.get() == 42);
  auto failing = std::async(std::launch::async, []() -> int { throw std::logic_error("no"); });
  try {
    failing.get();
    CHECK(false);
  } catch (const std::logic_error& error) {
    CHECK(std::string(error.what()) == "no");
  }
  std::latch all_here(threads);
  std::barrier step(threads);
  std::counting_semaphore<3> room(2);
  room.acquire();
  room.release();
  std::atomic<int> inside{0};
  std::atomic<int> told{0};
  std::once_flag flag;
  int times = 0;
  in_threads([&](int me) {
    std::call_once(flag, [&] { ++times; });
    static const std::string made_once = "of a static local, " + std::to_string(rounds);
    CHECK(made_once.ends_with("100"));
    all_here.arrive_and_wait();
    for (int i = 0; i < 10; ++i) {
      // libstdc++ 12's acquire() may sleep although the count is above 0, and for ever (bug 104928).
      while (!room.try_acquire_for(1ms)) {
      }
      CHECK(inside.fetch_add(1) < 2);
      inside.fetch_sub(1);
      room.release();
      step.arrive_and_wait();
    }
    if (me == 0) {
      std::this_thread::sleep_for(1ms);
      told = 1;
      told.notify_all();
    } else {
      told.wait(0);
    }
    std::ostringstream text;
    text << me << ' ' << 1.5 << ' ' << std::boolalpha << true;
    CHECK(text.str() == std::to_string(me) + " 1.5 true");
  });
  CHECK(times == 1 && inside == 0);
}

std::atomic<int> destroyed{0};
struct counted {
  int number = 7;
  ~counted() { ++destroyed; }
};
thread_local counted of_thread;

void thread_locals() {
  in_threads([](int me) {
    of_thread.number += me;
    std::this_thread::yield();
    CHECK(of_thread.number == 7 + me);
  });
  CHECK(destroyed == threads && of_thread.number == 7);
}

}  // namespace

int main() {
  containers_under_a_mutex();
  exceptions_in_sections();
  locks_of_all_kinds();
  a_queue_with_conditions();
  futures_and_the_rest();
  thread_locals();
  std::printf("all right\n");
  return 0;
}
