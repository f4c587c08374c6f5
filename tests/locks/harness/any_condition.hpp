// SPDX-License-Identifier: Apache-2.0
// Every condition variable with the mutex that goes with it behind one type, so that scenarios are compiled once
// instead of once a pair. What is called in the end is the pair's own function, with the pair's own std::unique_lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

namespace conformance {

class any_mutex;

/// A predicate of a wait, wherever it lives.
struct any_predicate {
  void* data;
  bool (*call)(void* data);
  bool operator()() const { return call(data); }
};

/// What a pair does: any of its functions may be given the memory of a mutex and of a condition of the pair.
struct pair_kind {
  const char* name;
  void (*construct_mutex)(void* mutex);
  void (*destroy_mutex)(void* mutex);
  void (*lock)(void* mutex);
  bool (*try_lock)(void* mutex);
  void (*unlock)(void* mutex);
  void (*construct)(void* condition);
  void (*destroy)(void* condition);
  void (*notify_one)(void* condition);
  void (*notify_all)(void* condition);
  void (*wait)(void* condition, std::unique_lock<any_mutex>& lock);
  void (*wait_until_true)(void* condition, std::unique_lock<any_mutex>& lock, any_predicate predicate);
  std::cv_status (*wait_for)(void* condition, std::unique_lock<any_mutex>& lock, std::chrono::nanoseconds time);
  bool (*wait_for_true)(void* condition, std::unique_lock<any_mutex>& lock, std::chrono::nanoseconds time,
                        any_predicate predicate);
};

class any_mutex {
 public:
  /// The kind of the mutexes and conditions that are made from now on.
  static inline const pair_kind* next_kind = nullptr;

  any_mutex() { kind_->construct_mutex(bytes_); }
  ~any_mutex() { kind_->destroy_mutex(bytes_); }
  any_mutex(const any_mutex&) = delete;
  any_mutex& operator=(const any_mutex&) = delete;
  void lock() { kind_->lock(bytes_); }
  bool try_lock() { return kind_->try_lock(bytes_); }
  void unlock() { kind_->unlock(bytes_); }
  void* place() { return bytes_; }

  static constexpr std::size_t max_bytes = 64;

 private:
  const pair_kind* kind_ = next_kind;
  alignas(64) std::byte bytes_[max_bytes];
};

/// Nothing here is touched after the pair's wait has returned: the condition may be gone by then.
class any_condition {
 public:
  any_condition() { kind_->construct(bytes_); }
  ~any_condition() { kind_->destroy(bytes_); }
  any_condition(const any_condition&) = delete;
  any_condition& operator=(const any_condition&) = delete;
  void notify_one() { kind_->notify_one(bytes_); }
  void notify_all() { kind_->notify_all(bytes_); }
  void wait(std::unique_lock<any_mutex>& lock) { kind_->wait(bytes_, lock); }
  template <class Predicate>
  void wait(std::unique_lock<any_mutex>& lock, Predicate predicate) {
    kind_->wait_until_true(bytes_, lock, erase(predicate));
  }
  std::cv_status wait_for(std::unique_lock<any_mutex>& lock, std::chrono::nanoseconds time) {
    return kind_->wait_for(bytes_, lock, time);
  }
  template <class Predicate>
  bool wait_for(std::unique_lock<any_mutex>& lock, std::chrono::nanoseconds time, Predicate predicate) {
    return kind_->wait_for_true(bytes_, lock, time, erase(predicate));
  }

  static constexpr std::size_t max_bytes = 64;

 private:
  template <class Predicate>
  static any_predicate erase(Predicate& predicate) {
    return {&predicate, [](void* data) -> bool { return (*static_cast<Predicate*>(data))(); }};
  }

  const pair_kind* kind_ = any_mutex::next_kind;
  alignas(64) std::byte bytes_[max_bytes];
};

/// The pair's lock for the time of a wait; whether it is held afterwards is what the pair says, on exceptions too.
template <class Mutex>
class lent {
 public:
  explicit lent(std::unique_lock<any_mutex>& from)
      : typed(*static_cast<Mutex*>(from.mutex()->place()), std::adopt_lock), from_(from) {}
  ~lent() {
    if (!typed.owns_lock()) from_.release();
    typed.release();
  }
  lent(const lent&) = delete;
  lent& operator=(const lent&) = delete;
  std::unique_lock<Mutex> typed;

 private:
  std::unique_lock<any_mutex>& from_;
};

template <class Pair>
struct pair_functions {
  using mutex = typename Pair::mutex;
  using condition = typename Pair::condition;
  static_assert(sizeof(mutex) <= any_mutex::max_bytes && sizeof(condition) <= any_condition::max_bytes);

  static mutex& as_mutex(void* place) { return *static_cast<mutex*>(place); }
  static condition& as_condition(void* place) { return *static_cast<condition*>(place); }
  static void wait(void* place, std::unique_lock<any_mutex>& lock) {
    lent<mutex> mine(lock);
    as_condition(place).wait(mine.typed);
  }
  static void wait_until_true(void* place, std::unique_lock<any_mutex>& lock, any_predicate predicate) {
    lent<mutex> mine(lock);
    as_condition(place).wait(mine.typed, predicate);
  }
  static std::cv_status wait_for(void* place, std::unique_lock<any_mutex>& lock, std::chrono::nanoseconds time) {
    lent<mutex> mine(lock);
    return as_condition(place).wait_for(mine.typed, time);
  }
  static bool wait_for_true(void* place, std::unique_lock<any_mutex>& lock, std::chrono::nanoseconds time,
                            any_predicate predicate) {
    lent<mutex> mine(lock);
    return as_condition(place).wait_for(mine.typed, time, predicate);
  }
};

template <class Pair, class F = pair_functions<Pair>>
inline constexpr pair_kind pair_kind_of = {
    Pair::name,
    [](void* place) { new (place) typename F::mutex; },
    [](void* place) { std::destroy_at(&F::as_mutex(place)); },
    [](void* place) { F::as_mutex(place).lock(); },
    [](void* place) { return F::as_mutex(place).try_lock(); },
    [](void* place) { F::as_mutex(place).unlock(); },
    [](void* place) { new (place) typename F::condition; },
    [](void* place) { std::destroy_at(&F::as_condition(place)); },
    [](void* place) { F::as_condition(place).notify_one(); },
    [](void* place) { F::as_condition(place).notify_all(); },
    F::wait,
    F::wait_until_true,
    F::wait_for,
    F::wait_for_true,
};

}  // namespace conformance
