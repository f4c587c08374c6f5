// SPDX-License-Identifier: Apache-2.0
// host COUNT PLUGIN...: opens each plug-in, uses it in COUNT threads, closes all, and then the threads end. Knows
// nothing of txsync.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

std::vector<void (*)()> uses;
pthread_barrier_t used;
pthread_barrier_t closed;

void* work(void*) {
  for (void (*const use)() : uses) use();
  pthread_barrier_wait(&used);
  pthread_barrier_wait(&closed);
  return nullptr;
}

}  // namespace

int main(int count, char** words) {
  std::vector<void*> modules;
  for (int i = 2; i < count; ++i) {
    void* const module = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      std::fprintf(stderr, "plug-in %d: %s\n", i - 1, dlerror());
      return 1;
    }
    modules.push_back(module);
    uses.push_back(reinterpret_cast<void (*)()>(dlsym(module, "use_plugin")));
  }
  std::vector<pthread_t> threads(static_cast<std::size_t>(std::atoi(words[1])));
  const auto all = static_cast<unsigned>(threads.size() + 1);
  pthread_barrier_init(&used, nullptr, all);
  pthread_barrier_init(&closed, nullptr, all);
  for (pthread_t& one : threads) pthread_create(&one, nullptr, work, nullptr);
  pthread_barrier_wait(&used);
  for (void* const module : modules) dlclose(module);
  pthread_barrier_wait(&closed);
  for (const pthread_t one : threads) pthread_join(one, nullptr);
  std::puts("ended");
}
