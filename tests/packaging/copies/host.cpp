// SPDX-License-Identifier: Apache-2.0
// host PLUGIN...: opens each plug-in and lets it add to a variable. With SHARES the variable is one of atomic blocks,
// and the host adds to it too; else the host knows nothing of txsync.
#include <dlfcn.h>

#include <cstdio>

#ifdef SHARES
#include <txsync/tm.hpp>

namespace {
constinit txsync::tm::block adds{"host.adds"};
txsync::tm::var<long> sum{0};
void add() {
  txsync::tm::atomically(adds, [](auto& tx) { tx.write(sum, tx.read(sum) + 1); });
}
}  // namespace
#else
namespace {
long sum = 0;
void add() {}
}  // namespace
#endif

int main(int count, char** words) {
  add();
  for (int i = 1; i < count; ++i) {
    void* const module = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      std::fprintf(stderr, "plug-in %d: %s\n", i, dlerror());
      return 1;
    }
    reinterpret_cast<void (*)(void*)>(dlsym(module, "plugin_add"))(&sum);
  }
  std::puts("ended");
}
