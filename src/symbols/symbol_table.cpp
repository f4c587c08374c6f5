// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_table.hpp"

#include <algorithm>
#include <tuple>

#include "symbols/symbols.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {
namespace {

int rank(const sized_symbol& symbol) { return symbol.binding == STB_GLOBAL ? 0 : symbol.binding == STB_WEAK ? 1 : 2; }

std::string with_file(const std::string& name, const char* file) { return name + '\0' + file; }

}  // namespace

symbol_table::symbol_table(Dwfl_Module* module) {
  const char* source = nullptr;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* const name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    if (name == nullptr) continue;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type == STT_FILE) source = *name != '\0' ? name : nullptr;  // for the local symbols that follow
    if (*name == '\0' || symbol.st_size == 0 || section == SHN_UNDEF) continue;
    const int binding = GELF_ST_BIND(symbol.st_info);
    const sized_symbol sized{address, symbol.st_size, 0, name, binding == STB_LOCAL ? source : nullptr, binding};
    if (type == STT_FUNC || type == STT_GNU_IFUNC) functions_.push_back(sized);
    if (type == STT_OBJECT) objects_.push_back(sized);
  }
  sort(functions_);
  sort(objects_);
  for (const sized_symbol& symbol : objects_) {
    const std::string name = readable_name(symbol.name);
    ++names_[name];
    if (symbol.file != nullptr) ++names_[with_file(name, symbol.file)];
  }
}

void symbol_table::sort(std::vector<sized_symbol>& list) {
  std::sort(list.begin(), list.end(), [](const sized_symbol& a, const sized_symbol& b) {
    return std::tuple(a.begin, b.size, rank(a), std::string_view(a.name)) <
           std::tuple(b.begin, a.size, rank(b), std::string_view(b.name));
  });
  // Other names of the same function or object.
  const auto same = [](const sized_symbol& a, const sized_symbol& b) { return a.begin == b.begin && a.size == b.size; };
  list.erase(std::unique(list.begin(), list.end(), same), list.end());
  std::uint64_t reach = 0;
  for (sized_symbol& one : list) one.reach = reach = std::max(reach, one.begin + one.size);
}

const sized_symbol* symbol_table::find(const std::vector<sized_symbol>& list, std::uint64_t address) {
  auto next = std::upper_bound(list.begin(), list.end(), address,
                               [](std::uint64_t at, const sized_symbol& one) { return at < one.begin; });
  while (next != list.begin() && std::prev(next)->reach > address) {
    --next;
    if (address - next->begin < next->size) return &*next;
  }
  return nullptr;
}

unsigned symbol_table::objects_named(const std::string& name) const {
  const auto known = names_.find(name);
  return known == names_.end() ? 0 : known->second;
}

unsigned symbol_table::objects_named(const std::string& name, const char* file) const {
  return file == nullptr ? 0 : objects_named(with_file(name, file));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
