// SPDX-License-Identifier: Apache-2.0
// host COUNT PLUGIN...: opens each plug-in, uses it in COUNT threads, and closes all; then once more, in the other
// order and at other places. The threads live all the time, and end after that. Knows nothing of txsync.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int rounds = 2;
std::vector<void*> modules;
std::vector<void (*)()> uses;
pthread_barrier_t turn;  // of the threads and main

void* work(void*) {
  for (int i = 0; i < rounds; ++i) {
    pthread_barrier_wait(&turn);  // opened
    for (void (*const use)() : uses) use();
    pthread_barrier_wait(&turn);  // used
  }
  pthread_barrier_wait(&turn);  // closed
  return nullptr;
}

void open(const char* name) {
  void* const module = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  modules.push_back(module);
  uses.push_back(reinterpret_cast<void (*)()>(dlsym(module, "use_plugin")));
}

/// Nothing else is loaded where a module was: what still looks for it there faults.
void block(void (*use)()) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const place = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(use) & ~(page - 1));
  // Fails where the module is still there.
  (void)mmap(place, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

void close_all() {
  for (void* const module : modules) dlclose(module);
  for (void (*const use)() : uses) block(use);
  modules.clear();
  uses.clear();
}

}  // namespace

int main(int count, char** words) {
  std::vector<pthread_t> threads(static_cast<std::size_t>(std::atoi(words[1])));
  pthread_barrier_init(&turn, nullptr, static_cast<unsigned>(threads.size() + 1));
  for (pthread_t& one : threads) pthread_create(&one, nullptr, work, nullptr);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 2; i < count; ++i) open(words[round == 0 ? i : count + 1 - i]);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    close_all();
  }
  pthread_barrier_wait(&turn);
  for (const pthread_t one : threads) pthread_join(one, nullptr);
  std::puts("ended");
}
