// SPDX-License-Identifier: Apache-2.0
// dlclose(), which then checks whether the code is still there. Not dlopen(), which asks who called it.
#include "loaded_code.hpp"

#include <dlfcn.h>

#include <atomic>

#include "found_once.hpp"
#include "interpose.hpp"
#include "known_tags.hpp"
#include "loaded_object.hpp"
#include "stack_frames.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

constinit std::atomic<std::uint64_t> epoch{1};

/// A loaded file, by the first address of its code in memory.
struct loaded_file {
  // relaxed, both, everywhere: numbers that are compared with the linker's; nothing is read through them
  std::atomic<std::uintptr_t> begin{0};  // 0: none
  std::atomic<const link_map*> map{nullptr};
};
constexpr std::uint32_t max_files = 128;
constinit loaded_file files[max_files] = {};
// relaxed: set when there are more files than room
constinit std::atomic<bool> some_are_unknown{false};

void remember_file(std::uintptr_t address) noexcept {
  const dl_find_object found = loaded_object(address);
  const auto begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  if (begin == 0) return;
  for (loaded_file& one : files) {
    std::uintptr_t seen = one.begin.load(std::memory_order_relaxed);
    if (seen == 0 && one.begin.compare_exchange_strong(seen, begin, std::memory_order_relaxed)) {
      one.map.store(found.dlfo_link_map, std::memory_order_relaxed);
      return;
    }
    if (seen == begin) return;
  }
  some_are_unknown.store(true, std::memory_order_relaxed);
}

bool is_gone(const loaded_file& one) noexcept {
  const std::uintptr_t begin = one.begin.load(std::memory_order_relaxed);
  if (begin == 0) return false;
  const dl_find_object found = loaded_object(begin);
  const link_map* const map = one.map.load(std::memory_order_relaxed);
  // Null: it is being written.
  return reinterpret_cast<std::uintptr_t>(found.dlfo_map_start) != begin ||
         (map != nullptr && found.dlfo_link_map != map);
}

void forget_unloaded() noexcept {
  bool any = some_are_unknown.exchange(false, std::memory_order_relaxed);
  for (loaded_file& one : files) {
    if (!is_gone(one)) continue;
    any = true;
    one.map.store(nullptr, std::memory_order_relaxed);
    one.begin.store(0, std::memory_order_relaxed);
  }
  if (!any) return;
  epoch.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  forget_frames();
  forget_tags();
}

struct close_function {
  decltype(&dlclose) call;
};
void find_close(close_function& out) noexcept { find_next(out.call, "dlclose"); }

}  // namespace

std::uint64_t code_epoch() noexcept { return epoch.load(std::memory_order_relaxed); }

void remember_code(const std::uintptr_t* addresses, std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i) remember_file(addresses[i]);
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload

using namespace txsync::preload;

TXSYNC_INTERPOSE int dlclose(void* library) noexcept {
  const int status = found_once<close_function, find_close>().call(library);
  forget_unloaded();
  return status;
}

TXSYNC_MOVED_IN_2_34(dlclose, TXSYNC_GLIBC_FIRST);
