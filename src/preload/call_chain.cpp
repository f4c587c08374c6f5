// SPDX-License-Identifier: Apache-2.0
#include "call_chain.hpp"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "frame_rules.hpp"
#include "known_answers.hpp"
#include "loaded_object.hpp"
#include "stack_frames.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

struct module_of {
  const char* path = nullptr;
  std::uintptr_t base = 0;
};

/// The program's file. This process asks, not the launcher, which may know it by another number, or not at all.
void describe_program(char* out, std::size_t bytes) noexcept {
  const int saved_errno = errno;
  // Without an interpreter the process runs the dynamic linker, which was given the program's name.
  const bool by_name = getauxval(AT_BASE) == 0;
  const ssize_t length = by_name ? -1 : readlink("/proc/self/exe", out, bytes);
  errno = saved_errno;
  if (by_name) {
    std::strncpy(out, program_invocation_name, bytes - 1);
  } else if (length <= 0 || static_cast<std::size_t>(length) >= bytes) {
    std::memset(out, 0, bytes);
    std::strncpy(out, "/proc/self/exe", bytes - 1);
  }
}

module_of find_module(std::uintptr_t address) noexcept {
  const link_map* const file = loaded_object(address).dlfo_link_map;
  return file != nullptr ? module_of{file->l_name, file->l_addr} : module_of{};
}

struct range {
  std::uintptr_t begin = 0, end = 0;
  bool has(std::uintptr_t address) const noexcept { return address >= begin && address < end; }
};

range own_range() noexcept {
  const dl_find_object object = loaded_object(reinterpret_cast<std::uintptr_t>(&chain_of_caller));
  return {reinterpret_cast<std::uintptr_t>(object.dlfo_map_start),
          reinterpret_cast<std::uintptr_t>(object.dlfo_map_end)};
}

struct walk {
  std::uintptr_t* addresses;
  std::uint32_t most;
  std::uint32_t count;
  range own;
  stack_reader stack;
};

/// Called by a function that has saved all registers. `canonical`: that function's, as find_caller() defines it.
[[gnu::noinline]] void go_up(walk& all, std::uintptr_t canonical) noexcept {
  constexpr unsigned max_frames = 512;  // for a stack that forms a circle
  stack_frame at;
  at.address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  std::uintptr_t before = 0;
  for (unsigned frames = 0; frames < max_frames && all.count < all.most; ++frames) {
    if (!find_caller(at, canonical)) return;
    // The frame may be a signal handler's, on another stack.
    if (canonical <= before && !at.is_interrupted) return;
    all.stack.met(at.address, canonical);
    if (!all.own.has(at.address)) all.addresses[all.count++] = at.address;
    before = canonical;
    canonical = 0;
  }
}

void put_frame(frame& out, const char* path, std::uint64_t offset) noexcept {
  out.offset = offset;
  std::memset(out.module, 0, sizeof out.module);
  if (path == nullptr) return;
  if (path[0] != '\0')
    std::strncpy(out.module, path, sizeof out.module - 1);
  else  // the program itself, which has no name for the linker
    describe_program(out.module, sizeof out.module);
}

}  // namespace

std::uint64_t call_chain::hash() const noexcept {
  std::uint64_t mixed = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    mixed = (mixed ^ addresses[i]) * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 29;
  }
  return mixed | 1;
}

[[gnu::noinline]] std::uint32_t unwind_caller(std::uintptr_t* addresses, std::uint32_t most) noexcept {
  walk all{addresses, most, 0, own_range(), {}};
  __builtin_unwind_init();  // saves all registers in this frame, in which the tables describe them
  go_up(all, reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()));
  all.stack.finish(all.own.begin, all.own.end);
  return all.count;
}

call_chain chain_of_caller() noexcept {
  call_chain chain;
  chain.count = unwind_caller(chain.addresses, frame_list::max_frames);
  return chain;
}

void describe(std::uintptr_t address, frame& out) noexcept {
  const module_of module = find_module(address);
  put_frame(out, module.path, address - module.base);
}

void describe(const call_chain& chain, frame_list& out) noexcept {
  out.count = chain.count;
  for (std::uint32_t i = 0; i < chain.count; ++i) describe(chain.addresses[i], out.frames[i]);
}

static_location find_static(const void* object) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  const module_of module = find_module(address);
  return {module.path, address - module.base};
}

std::uint64_t static_location::file_hash() const noexcept {
  std::uint64_t hash = 1;
  for (const char* letter = path; *letter != '\0'; ++letter) hash = mixed(hash, static_cast<unsigned char>(*letter));
  return hash;
}

void describe(const static_location& object, frame_list& out) noexcept {
  out.count = 1;
  put_frame(out.frames[0], object.path, object.offset);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload
