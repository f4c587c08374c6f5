// SPDX-License-Identifier: Apache-2.0
// The parts of std::thread, future and random_device that libstdc++ has precompiled, based on what the simulated
// machine offers.
#include <future>
#include <random>
#include <thread>

#include <sim/program.h>
#include <txsync_backend/runtime.h>
#include <unistd.h>

namespace std {
namespace {

// Runs a thread's function. An exception from it ends the program, as the standard requires.
void* run_state(void* given) noexcept {
  unique_ptr<thread::_State> state(static_cast<thread::_State*>(given));
  state->_M_run();
  return nullptr;
}

bool wait_on(unsigned* word, unsigned expected, bool bounded, chrono::nanoseconds since_start) {
  uint64_t deadline = ~uint64_t{0};
  if (bounded) deadline = since_start.count() < 0 ? 0 : static_cast<uint64_t>(since_start.count());
  return txsync_sim_park(word, expected, deadline) != 2;
}

}  // namespace

void thread::_M_start_thread(_State_ptr state, void (*)()) {
  if (const int error = pthread_create(&_M_id._M_thread, nullptr, run_state, state.get())) __throw_system_error(error);
  [[maybe_unused]] const _State* taken = state.release();
}
void thread::join() {
  txsync_sim_join_asked_at(&_M_id._M_thread);
  int error = EINVAL;
  if (joinable()) error = pthread_join(_M_id._M_thread, nullptr);
  if (error) __throw_system_error(error);
  _M_id = id();
}
void thread::detach() {
  int error = EINVAL;
  if (joinable()) error = pthread_detach(_M_id._M_thread);
  if (error) __throw_system_error(error);
  _M_id = id();
}
unsigned thread::hardware_concurrency() noexcept { return txsync_sim_program_cpus(); }

bool __atomic_futex_unsigned_base::_M_futex_wait_until(unsigned* word, unsigned expected, bool bounded,
                                                       chrono::seconds seconds, chrono::nanoseconds rest) {
  const auto start = chrono::system_clock::now().time_since_epoch() - chrono::steady_clock::now().time_since_epoch();
  return wait_on(word, expected, bounded, seconds + rest - start);
}
bool __atomic_futex_unsigned_base::_M_futex_wait_until_steady(unsigned* word, unsigned expected, bool bounded,
                                                              chrono::seconds seconds, chrono::nanoseconds rest) {
  return wait_on(word, expected, bounded, seconds + rest);
}
void __atomic_futex_unsigned_base::_M_futex_notify_all(unsigned* word) { txsync_sim_unpark(word, ~0u); }

void random_device::_M_init(const string&) {}
void random_device::_M_fini() {}
random_device::result_type random_device::_M_getval() { return static_cast<result_type>(txsync_sim_random()); }
double random_device::_M_getentropy() const noexcept { return 0; }

}  // namespace std
