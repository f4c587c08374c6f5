// SPDX-License-Identifier: Apache-2.0
// Threads of POSIX and C11, based on the runtime's. Mutexes and the like are in src/preload. Instrumented, and renamed
// like user code: pthread_create here is txsync_sim_pthread_create in the image.
#include <pthread.h>
#include <sched.h>
#include <sim/program.h>
#include <threads.h>
#include <txsync_backend/runtime.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "once.hpp"

namespace {

struct control {
  void* (*entry)(void*);
  void* argument;
  void* result;
  std::uintptr_t handle;
  bool detached;
  char name[16];
  __pthread_unwind_buf_t* cleanup;  // of C's pthread_cleanup_push, the last one first
};

control main_control{};
thread_local control* own = &main_control;

control* of(pthread_t thread) { return reinterpret_cast<control*>(thread); }
std::uintptr_t handle_of(const control* one) { return one == &main_control ? txsync_sim_first_thread() : one->handle; }
/// The one before it is in a part of it that is the library's own.
__pthread_unwind_buf_t* before(const __pthread_unwind_buf_t* cleanup) {
  return static_cast<__pthread_unwind_buf_t*>(cleanup->__pad[0]);
}
void forget(control* one) {
  if (one != &main_control) std::free(one);
}

void run(void* started) {
  own = static_cast<control*>(started);
  own->result = own->entry(own->argument);
  if (own->detached) forget(own);
}

[[noreturn]] void leave() {
  if (__pthread_unwind_buf_t* const cleanup = own->cleanup) {
    own->cleanup = before(cleanup);
    // NOLINTNEXTLINE(bugprone-casting-through-void): so does the macro, for setjmp()
    std::longjmp(static_cast<__jmp_buf_tag*>(static_cast<void*>(cleanup->__cancel_jmp_buf)), 1);
  }
  if (own->detached) forget(own);
  txsync_sim_thread_exit();
}

// C11's entry function returns an int.
struct c11_start {
  thrd_start_t entry;
  void* argument;
};
void* run_c11(void* started) {
  const c11_start start = *static_cast<c11_start*>(started);
  std::free(started);
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(start.entry(start.argument)));
}

}  // namespace

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*), void* argument) {
  txsync_sim_system_call("pthread_create");
  auto* made = static_cast<control*>(std::calloc(1, sizeof(control)));
  if (!made) return EAGAIN;
  made->entry = entry;
  made->argument = argument;
  int detached = PTHREAD_CREATE_JOINABLE;
  if (attributes) pthread_attr_getdetachstate(attributes, &detached);
  made->detached = detached == PTHREAD_CREATE_DETACHED;
  *thread = reinterpret_cast<pthread_t>(made);
  if (!txsync_sim_thread_start(&made->handle, run, made)) {
    std::free(made);
    return EAGAIN;
  }
  if (detached == PTHREAD_CREATE_DETACHED) txsync_sim_thread_detach(made->handle);
  return 0;
}

int pthread_join(pthread_t thread, void** result) {
  txsync_sim_join_asked(thread);
  txsync_sim_system_call("pthread_join");
  control* other = of(thread);
  if (other == own) return EDEADLK;
  if (other->detached) return EINVAL;
  txsync_sim_thread_join(handle_of(other));
  if (result) *result = other->result;
  forget(other);
  return 0;
}

int pthread_detach(pthread_t thread) {
  txsync_sim_system_call("pthread_detach");
  if (of(thread)->detached) return EINVAL;
  of(thread)->detached = true;
  txsync_sim_thread_detach(handle_of(of(thread)));
  return 0;
}

// libc's headers define two functions inline, so these already have their new names.
pthread_t pthread_self() { return reinterpret_cast<pthread_t>(own); }
int txsync_sim_pthread_equal(pthread_t a, pthread_t b) { return a == b; }

void pthread_exit(void* result) {
  txsync_sim_system_call("pthread_exit");
  own->result = result;
  leave();
}

// C's pthread_cleanup_push and pop, where no exception can pass: the push is a setjmp(), to which the end of the thread
// comes back. The macro runs the function, and calls for the next one.
void __pthread_register_cancel(__pthread_unwind_buf_t* cleanup) {
  cleanup->__pad[0] = own->cleanup;
  own->cleanup = cleanup;
}
void __pthread_unregister_cancel(__pthread_unwind_buf_t* cleanup) { own->cleanup = before(cleanup); }
void __pthread_unwind_next(__pthread_unwind_buf_t*) { leave(); }

// Nobody is cancelled: who cancels a thread ends the run.
int pthread_setcancelstate(int, int* old) {
  if (old) *old = PTHREAD_CANCEL_ENABLE;
  return 0;
}
int pthread_setcanceltype(int, int* old) {
  if (old) *old = PTHREAD_CANCEL_DEFERRED;
  return 0;
}
void pthread_testcancel() {}

// All threads have the usual priority, and there are no forks.
int pthread_setschedparam(pthread_t, int policy, const sched_param*) { return policy == SCHED_OTHER ? 0 : EPERM; }
int pthread_getschedparam(pthread_t, int* policy, sched_param* parameters) {
  *policy = SCHED_OTHER;
  *parameters = {};
  return 0;
}
int pthread_setschedprio(pthread_t, int priority) { return priority == 0 ? 0 : EPERM; }
int pthread_atfork(void (*)(), void (*)(), void (*)()) { return 0; }

int pthread_once(pthread_once_t* once, void (*function)()) {
  txsync::sim::library::call_once(*reinterpret_cast<std::uint32_t*>(once), [&] { function(); });
  return 0;
}

int pthread_setname_np(pthread_t thread, const char* name) {
  if (std::strlen(name) >= sizeof(control::name)) return ERANGE;
  std::strcpy(of(thread)->name, name);
  return 0;
}
int pthread_getname_np(pthread_t thread, char* name, std::size_t size) {
  if (std::strlen(of(thread)->name) >= size) return ERANGE;
  std::strcpy(name, of(thread)->name);
  return 0;
}

int pthread_setaffinity_np(pthread_t thread, std::size_t size, const cpu_set_t* set) {
  if (of(thread) != own) return 0;  // a thread can pin only itself; for others the call has no effect
  return sched_setaffinity(0, size, set) == 0 ? 0 : EINVAL;
}
int pthread_getaffinity_np(pthread_t, std::size_t size, cpu_set_t* set) { return sched_getaffinity(0, size, set); }
int pthread_sigmask(int, const sigset_t*, sigset_t* old) {
  if (old) sigemptyset(old);
  return 0;
}

int pthread_getconcurrency() { return 0; }
int pthread_setconcurrency(int) { return 0; }
int pthread_getcpuclockid(pthread_t, clockid_t* clock) {
  *clock = CLOCK_THREAD_CPUTIME_ID;
  return 0;
}
int sched_getscheduler(pid_t) { return SCHED_OTHER; }
int sched_getparam(pid_t, sched_param* parameters) {
  *parameters = {};
  return 0;
}
int sched_setscheduler(pid_t, int policy, const sched_param*) {
  if (policy == SCHED_OTHER) return 0;
  errno = EPERM;
  return -1;
}
int sched_setparam(pid_t, const sched_param* parameters) {
  return sched_setscheduler(0, parameters->sched_priority == 0 ? SCHED_OTHER : SCHED_FIFO, parameters);
}

int thrd_create(thrd_t* thread, thrd_start_t entry, void* argument) {
  auto* start = static_cast<c11_start*>(std::malloc(sizeof(c11_start)));
  if (!start) return thrd_nomem;
  *start = {entry, argument};
  return pthread_create(thread, nullptr, run_c11, start) == 0 ? thrd_success : thrd_error;
}
int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  if (pthread_join(thread, &returned) != 0) return thrd_error;
  if (result) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(returned));
  return thrd_success;
}
int thrd_detach(thrd_t thread) { return pthread_detach(thread) == 0 ? thrd_success : thrd_error; }
void thrd_exit(int result) { pthread_exit(reinterpret_cast<void*>(static_cast<std::intptr_t>(result))); }
void thrd_yield() { sched_yield(); }
int thrd_sleep(const timespec* duration, timespec* left) { return nanosleep(duration, left); }
thrd_t thrd_current() { return pthread_self(); }
int txsync_sim_thrd_equal(thrd_t a, thrd_t b) { return a == b; }
void call_once(once_flag* flag, void (*function)()) { pthread_once(reinterpret_cast<pthread_once_t*>(flag), function); }

int tss_create(tss_t* key, tss_dtor_t end) { return pthread_key_create(key, end) == 0 ? thrd_success : thrd_error; }
void* tss_get(tss_t key) { return pthread_getspecific(key); }
int tss_set(tss_t key, void* value) { return pthread_setspecific(key, value) == 0 ? thrd_success : thrd_error; }
void tss_delete(tss_t key) { pthread_key_delete(key); }

}  // extern "C"
