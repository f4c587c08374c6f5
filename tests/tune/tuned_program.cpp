// SPDX-License-Identifier: Apache-2.0
// tuned_program [fail-under-preload|hang-under-preload|fail|silent]: threads that share two locks, for tests of txsync
// tune. Prints "sections: N" and exits with 0; the word makes it go wrong.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int threads = 3;
constexpr long sections = 4000;

pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
long done = 0;

void* work(void*) {
  for (long i = 0; i < sections; ++i) {
    pthread_mutex_lock(&hot);
    ++done;
    pthread_mutex_unlock(&hot);
    if (i % 16 != 0) continue;
    pthread_rwlock_rdlock(&table);
    pthread_rwlock_unlock(&table);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const char* word = argc > 1 ? argv[1] : "";
  const bool preloaded = std::getenv("LD_PRELOAD") != nullptr;
  if (std::strcmp(word, "fail") == 0 || (preloaded && std::strcmp(word, "fail-under-preload") == 0)) {
    std::fprintf(stderr, "cannot open the table\n");
    return 3;
  }
  if (preloaded && std::strcmp(word, "hang-under-preload") == 0) pause();
  pthread_t workers[threads];
  for (pthread_t& one : workers) pthread_create(&one, nullptr, work, nullptr);
  for (pthread_t& one : workers) pthread_join(one, nullptr);
  std::printf("starting\n");
  if (std::strcmp(word, "silent") != 0) std::printf("sections: %ld\n", done);
  return done == threads * sections ? 0 : 1;
}
