// SPDX-License-Identifier: Apache-2.0
// A library in front of ours that finds the condition waits behind it by version, as libfaketime and ThreadSanitizer
// do.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>

namespace {

#ifdef __x86_64__
constexpr const char* version = "GLIBC_2.3.2";
#else
constexpr const char* version = "GLIBC_2.17";
#endif

template <class Function>
Function behind(const char* name) {
  void* const found = dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

}  // namespace

extern "C" int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto wait = behind<decltype(&pthread_cond_wait)>("pthread_cond_wait");
  return wait(condition, mutex);
}

extern "C" int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
  static const auto wait = behind<decltype(&pthread_cond_timedwait)>("pthread_cond_timedwait");
  return wait(condition, mutex, time);
}
