// SPDX-License-Identifier: Apache-2.0
// Libraries that are opened, used and closed.
#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "plugin_pair.hpp"
#include "state.hpp"

namespace generated {

std::string environment::plugin(int which) const {
  const char* first = plugins;
  for (; which > 0; --which) {
    const char* const colon = std::strchr(first, ':');
    if (colon == nullptr) return {};
    first = colon + 1;
  }
  return {first, std::strcspn(first, ":")};
}

namespace {

/// Of the threads of a process that open libraries: another's use would keep a library from being closed.
pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void* open(const place& here, int which) {
  void* const library = dlopen(here.around.plugin(which).c_str(), RTLD_NOW | RTLD_LOCAL);
  check(here, "a library is opened", library != nullptr, 1);
  return library;
}

/// A library of the pair, in use.
struct opened {
  const place& here;
  void* library;
  plugin_face face;
};

opened open_of_pair(const place& here, int which) {
  void* const library = open(here, which);
  auto* const face = reinterpret_cast<plugin_face (*)()>(dlsym(library, "plugin_of_a_pair"));
  check(here, "a function is found", face != nullptr, 1);
  opened one{here, library, face()};
  check(here, "it is the library that was asked for", one.face.number, which);
  return one;
}

constexpr int rounds = 20;

void* count_in_library(void* argument) {
  const opened& one = *static_cast<opened*>(argument);
  for (int i = 0; i < rounds; ++i) one.face.count();
  return nullptr;
}

/// Answers are those of the mutex that is there now.
void ask(const opened& one, pthread_mutex_t& mutex, int type) {
  const place& here = one.here;
  const how by = here.now().by;
  take(here, mutex, by);
  const int again = pthread_mutex_trylock(&mutex);
  check(here, "the holder of a library's mutex attempts", again, type == PTHREAD_MUTEX_RECURSIVE ? 0 : EBUSY);
  if (again == 0) release(here, mutex, by);
  if (type == PTHREAD_MUTEX_ERRORCHECK)
    check(here, "the holder of a library's mutex locks", pthread_mutex_lock(&mutex), EDEADLK);
  release(here, mutex, by);
  if (type != PTHREAD_MUTEX_NORMAL)
    check(here, "one who has released a library's mutex releases", pthread_mutex_unlock(&mutex), EPERM);
}

void use(opened& one, bool first) {
  const place& here = one.here;
  if (first) ask(one, *one.face.in_static_storage, one.face.static_type);
  const pthread_t other = start_thread(here, count_in_library, &one);
  count_in_library(&one);
  join_thread(here, other);
  ask(one, *one.face.on_heap, one.face.heap_type);
  // Its constructor counted once.
  check(here, "the library counts", static_cast<int>(one.face.counted()), 1 + 2 * rounds);
  ++here.shared.counted.operation[here.number];
}

void close(const opened& one) { check(one.here, "a library is closed", dlclose(one.library), 0); }

}  // namespace

void open_plugin(const place& here) {
  for (int i = 0; i < here.now().times; ++i) {
    take(here, one_at_a_time, how::lock);
    void* const library = open(here, 0);
    auto* const call = reinterpret_cast<long (*)()>(dlsym(library, "plugin_call"));
    check(here, "a function is found", call != nullptr, 1);
    // Its constructor made the first call.
    for (int calls = 2; calls < 5; ++calls) check(here, "the library counts", static_cast<int>(call()), calls);
    check(here, "a library is closed", dlclose(library), 0);
    release(here, one_at_a_time, how::lock);
  }
}

void open_plugins_in_turn(const place& here) {
  const operation& asked = here.now();
  take(here, one_at_a_time, how::lock);
  int next = 1 + static_cast<int>(asked.objects & 1);
  long visits = plugins_visits(asked);
  if (asked.signal) {  // the second comes to another place; then the first to its own, or the second's
    opened one = open_of_pair(here, next);
    opened another = open_of_pair(here, 3 - next);
    use(one, true);
    close(one);
    use(another, false);
    close(another);
    visits -= 2;
  }
  for (; visits > 0; --visits) {
    opened one = open_of_pair(here, next);
    use(one, visits % 2 == 0);
    close(one);
    next = 3 - next;
  }
  release(here, one_at_a_time, how::lock);
}

}  // namespace generated
