// SPDX-License-Identifier: Apache-2.0
// A plug-in that links the library. WITH_BLOCKS: it adds to the host's variable; else it uses a lock of its own.
#ifdef SEPARATE
#include <txsync/machine/separate_copy.hpp>
#endif
#ifdef WITH_BLOCKS
#include <txsync/tm.hpp>

namespace {
constinit txsync::tm::block adds{"plugin.adds"};
}
extern "C" [[gnu::visibility("default")]] void plugin_add(void* where) {
  auto& sum = *static_cast<txsync::tm::var<long>*>(where);
  txsync::tm::atomically(adds, [&](auto& tx) { tx.write(sum, tx.read(sum) + 1); });
}
#else
#include <mutex>
#include <txsync/locks/futex_mutex.hpp>

extern "C" [[gnu::visibility("default")]] void plugin_add(void*) {
  static txsync::futex_mutex lock;
  const std::lock_guard held(lock);
}
#endif
