// SPDX-License-Identifier: Apache-2.0
// Threads of tests. What they run has one type. So tests of many locks compile the start of a thread once, and not for
// each of their bodies.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace conformance {

/// A reference to what the called function calls before it returns.
template <class Result>
class body_ref {
 public:
  template <class Body>
    requires(!std::is_same_v<std::remove_cvref_t<Body>, body_ref>)
  body_ref(Body&& body)  // implicit, as a lambda is passed
      : body_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* called) -> Result { return (*static_cast<std::remove_reference_t<Body>*>(called))(); }) {}
  Result operator()() const { return call_(body_); }

 private:
  void* body_;
  Result (*call_)(void*);
};

/// A thread that runs its copy of `body`.
inline std::thread start(std::function<void()> body) { return std::thread(std::move(body)); }

/// What `body` answers in another thread.
inline bool elsewhere(body_ref<bool> body) {
  bool answer = false;
  start([&] { answer = body(); }).join();
  return answer;
}

inline void join(std::vector<std::thread>& threads) {
  for (std::thread& one : threads) one.join();
}

/// That many threads run `body`, and end.
inline void run_threads(unsigned count, body_ref<void> body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.push_back(start(body));
  join(threads);
}

}  // namespace conformance
