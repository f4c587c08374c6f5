// SPDX-License-Identifier: Apache-2.0
#include "attach/loaded_files.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/core.h>

#include "base/descriptor.hpp"
#include "launch/elf_handle.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

/// "BEGIN-END RIGHTS OFFSET DEVICE INODE   PATH".
std::optional<mapping> parse(const std::string& line) {
  mapping made;
  char rights[5] = {};
  int path = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &made.begin, &made.end, rights,
                  &made.offset, &path) != 4)
    return std::nullopt;
  made.executable = rights[2] == 'x';
  if (path > 0 && static_cast<std::size_t>(path) < line.size()) made.path = line.substr(static_cast<std::size_t>(path));
  return made;
}

/// Null where it is no ELF file. A device or a pipe of that name is not opened for reading: it could block.
launch::elf_handle open_elf(const std::string& path, const base::descriptor& file) {
  struct stat about{};
  if (file.get() < 0 || stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return nullptr;
  elf_version(EV_CURRENT);
  return launch::elf_handle(elf_begin(file.get(), ELF_C_READ, nullptr));
}

}  // namespace

std::optional<loaded_file> place_file(const std::string& path, const mapping& part) {
  const base::descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const launch::elf_handle elf = open_elf(path, file);
  std::size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf.get(), &count) != 0) return std::nullopt;
  loaded_file made{path, 0, 0, 0};
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t highest = 0;
  bool placed = false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr head;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &head) == nullptr || head.p_type != PT_LOAD) continue;
    lowest = std::min(lowest, head.p_vaddr);
    highest = std::max(highest, head.p_vaddr + head.p_memsz);
    // The mapping begins with the page that the segment begins in.
    const std::uint64_t page_begin = head.p_align > 1 ? head.p_offset / head.p_align * head.p_align : head.p_offset;
    if ((head.p_flags & PF_X) == 0 || part.offset < page_begin || part.offset >= head.p_offset + head.p_filesz)
      continue;
    made.bias = part.begin - (head.p_vaddr - head.p_offset + part.offset);
    placed = true;
  }
  if (!placed) return std::nullopt;
  made.begin = made.bias + lowest;
  made.end = made.bias + highest;
  return made;
}

memory_map::memory_map(const target& of) {
  std::ifstream in(fmt::format("/proc/{}/maps", of.process));
  for (std::string line; std::getline(in, line);) {
    if (std::optional<mapping> one = parse(line)) mappings_.push_back(std::move(*one));
  }
  add_files(of);
}

void memory_map::add_files(const target& of) {
  std::set<std::string> seen;
  for (const mapping& one : mappings_) {
    if (!one.executable || !one.path.starts_with('/') || !seen.insert(one.path).second) continue;
    // A file that was replaced is another one by now.
    if (one.path.ends_with(" (deleted)")) continue;
    if (std::optional<loaded_file> file = place_file(of.root + one.path, one)) files_.push_back(std::move(*file));
  }
}

const mapping* memory_map::at(std::uint64_t address) const {
  const auto next = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                     [](std::uint64_t place, const mapping& one) { return place < one.begin; });
  if (next == mappings_.begin() || address >= std::prev(next)->end) return nullptr;
  return &*std::prev(next);
}

const loaded_file* memory_map::file_at(std::uint64_t address) const {
  const auto found = std::find_if(files_.begin(), files_.end(), [address](const loaded_file& one) {
    return address >= one.begin && address < one.end;
  });
  return found == files_.end() ? nullptr : &*found;
}

std::size_t read_memory(int process, std::uint64_t address, void* into, std::size_t bytes) {
  iovec here{into, bytes};
  iovec there{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr): another process' address
  const ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
