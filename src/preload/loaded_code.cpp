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

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

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
  const dl_find_object object = loaded_object(address);
  const auto begin = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
  if (begin == 0) return;
  for (loaded_file& file : files) {
    std::uintptr_t expected = file.begin.load(std::memory_order_relaxed);
    if (expected == 0 && file.begin.compare_exchange_strong(expected, begin, std::memory_order_relaxed)) {
      file.map.store(object.dlfo_link_map, std::memory_order_relaxed);
      return;
    }
    if (expected == begin) return;
  }
  some_are_unknown.store(true, std::memory_order_relaxed);
}

bool is_gone(const loaded_file& file) noexcept {
  const std::uintptr_t begin = file.begin.load(std::memory_order_relaxed);
  if (begin == 0) return false;
  const dl_find_object object = loaded_object(begin);
  const link_map* const map = file.map.load(std::memory_order_relaxed);
  // Null: it is being written.
  return reinterpret_cast<std::uintptr_t>(object.dlfo_map_start) != begin ||
         (map != nullptr && object.dlfo_link_map != map);
}

void forget_unloaded() noexcept {
  bool any = some_are_unknown.exchange(false, std::memory_order_relaxed);
  for (loaded_file& file : files) {
    if (!is_gone(file)) continue;
    any = true;
    file.map.store(nullptr, std::memory_order_relaxed);
    file.begin.store(0, std::memory_order_relaxed);
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

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync::preload;

TXSYNC_INTERPOSE int dlclose(void* library) noexcept {
  const int status = found_once<close_function, find_close>().call(library);
  forget_unloaded();
  return status;
}

TXSYNC_MOVED_IN_2_34(dlclose, TXSYNC_GLIBC_FIRST);
