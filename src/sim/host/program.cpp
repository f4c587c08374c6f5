// SPDX-License-Identifier: Apache-2.0
// Checks whether a file is a program for the simulated machine, by the section that the runtime leaves in it.
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include "sim/host/image.hpp"

namespace txsync::sim {
namespace {

constexpr char section_name[] = TXSYNC_SIM_MACHINE_SECTION;

template <class Record>
bool read_at(std::ifstream& file, std::uint64_t offset, Record* into, std::size_t count) {
  const auto bytes = static_cast<std::streamsize>(count * sizeof(Record));
  return static_cast<bool>(file.seekg(static_cast<std::streamoff>(offset)).read(reinterpret_cast<char*>(into), bytes));
}

bool is_elf64(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shstrndx < header.e_shnum;
}

/// The number in the section; 0 if there is no such section.
std::uint32_t interface_of(std::ifstream& file) {
  Elf64_Ehdr header{};
  if (!read_at(file, 0, &header, 1) || !is_elf64(header)) return 0;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(file, header.e_shoff, sections.data(), sections.size())) return 0;
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  for (const Elf64_Shdr& section : sections) {
    char name[sizeof section_name] = {};
    if (std::uint64_t{section.sh_name} + sizeof name > names.sh_size ||
        !read_at(file, names.sh_offset + section.sh_name, name, sizeof name) ||
        std::memcmp(name, section_name, sizeof name) != 0) {
      continue;
    }
    std::uint32_t number = 0;
    return read_at(file, section.sh_offset, &number, 1) ? number : 0;
  }
  return 0;
}

}  // namespace

std::string complaint_of_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "cannot be read";
  const std::uint32_t interface = interface_of(file);
  if (interface == machine_interface) return {};
  if (interface == 0) return "was not built by txsync-c++ or txsync-cc, as programs for the simulated machine are";
  return "was built by the txsync-c++ of another version: build it anew";
}

}  // namespace txsync::sim
