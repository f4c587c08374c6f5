// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbols.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>

#include <fmt/core.h>

#include "base/words.hpp"
#include "symbols/code_scopes.hpp"
#include "symbols/symbol_table.hpp"
#include "symbols/variables.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {
namespace {

/// Debug files by build ID and by name, only on this machine: elfutils would ask a server that the environment names.
int find_debug_file(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word crc, char** path) {
  const char* const servers = std::getenv("DEBUGINFOD_URLS");
  const bool would_ask = servers != nullptr && *servers != '\0';
  return would_ask ? dwfl_build_id_find_debuginfo(module, user, name, base, file, link, crc, path)
                   : dwfl_standard_find_debuginfo(module, user, name, base, file, link, crc, path);
}

const Dwfl_Callbacks callbacks = {.find_elf = nullptr,
                                  .find_debuginfo = find_debug_file,
                                  .section_address = dwfl_offline_section_address,
                                  .debuginfo_path = nullptr};

struct dwfl_closer {
  void operator()(Dwfl* all) const noexcept { dwfl_end(all); }
};

std::string name_of(Dwarf_Die* entry) {
  Dwarf_Attribute attribute;
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (dwarf_attr_integrate(entry, kind, &attribute) == nullptr) continue;
    if (const char* text = dwarf_formstring(&attribute); text != nullptr) return readable_name(text);
  }
  return {};
}

/// The place of the call that an inlined function replaces.
void put_call_place(Dwarf_Die* unit, Dwarf_Die* inlined, function_at& into) {
  into.file.clear();
  into.line = 0;
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
      dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
      dwarf_getsrcfiles(unit, &files, &count) != 0) {
    return;
  }
  if (const char* name = dwarf_filesrc(files, file, nullptr, nullptr); name != nullptr) {
    into.file = name;
    into.line = static_cast<unsigned>(line);
  }
}

}  // namespace

namespace {
/// For the C library's own functions the names are enough: nobody changes their lines. To unpack its debug information
/// (Debian's libc6-dbg) would take some 40 ms of each run.
bool is_of_c_library(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("ld-");
}

/// A stretch of code and the unit of the debug information that it belongs to.
struct unit_code {
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  Dwarf_Die* unit = nullptr;
  Dwarf_Addr bias = 0;
};
}  // namespace

struct module_symbols::state {
  std::unique_ptr<Dwfl, dwfl_closer> all;
  Dwfl_Module* module = nullptr;
  std::string path;
  struct stat opened{};
  std::vector<unit_code> units;  // by begin
  bool units_known = false;
  std::unique_ptr<symbol_table> all_symbols;                 // null: not read yet
  std::unique_ptr<variables> all_variables;                  // likewise
  std::map<Dwarf_Off, std::unique_ptr<code_scopes>> scopes;  // by the unit's offset

  explicit state(const std::string& file) : path(file) {
    if (stat(file.c_str(), &opened) != 0 || !S_ISREG(opened.st_mode)) return;
    all.reset(dwfl_begin(&callbacks));
    if (all == nullptr) return;
    dwfl_report_begin(all.get());
    // At base 0, addresses are those in the file.
    module = dwfl_report_elf(all.get(), file.c_str(), file.c_str(), -1, 0, true);
    dwfl_report_end(all.get(), nullptr, nullptr);
  }

  /// Where each unit's code lies, for files without such a table (Clang leaves it out).
  void learn_units() {
    units_known = true;
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = dwfl_module_nextcu(module, nullptr, &bias); unit != nullptr;
         unit = dwfl_module_nextcu(module, unit, &bias)) {
      Dwarf_Addr base = 0;
      Dwarf_Addr begin = 0;
      Dwarf_Addr behind = 0;
      for (std::ptrdiff_t at = dwarf_ranges(unit, 0, &base, &begin, &behind); at > 0;
           at = dwarf_ranges(unit, at, &base, &begin, &behind)) {
        units.push_back({begin + bias, behind + bias, unit, bias});
      }
    }
    std::sort(units.begin(), units.end(), [](const unit_code& a, const unit_code& b) { return a.begin < b.begin; });
  }

  /// The unit of the debug information that contains an address; `unit` is null if there is none.
  unit_code unit_at(Dwarf_Addr call) {
    unit_code unit;
    unit.unit = dwfl_module_addrdie(module, call, &unit.bias);
    if (unit.unit != nullptr) return unit;
    if (!units_known) learn_units();
    const auto next = std::upper_bound(units.begin(), units.end(), call,
                                       [](Dwarf_Addr address, const unit_code& one) { return address < one.begin; });
    const bool inside = next != units.begin() && call < std::prev(next)->end;
    return inside ? *std::prev(next) : unit_code();
  }

  static void put_line(const unit_code& in, Dwarf_Addr call, function_at& into) {
    Dwarf_Line* const line = in.unit != nullptr ? dwarf_getsrc_die(in.unit, call - in.bias) : nullptr;
    const char* const file = line != nullptr ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
    int number = 0;
    if (file == nullptr || dwarf_lineno(line, &number) != 0) return;
    into.file = file;
    into.line = static_cast<unsigned>(number);
  }

  const symbol_table& symbols() {
    if (all_symbols == nullptr) all_symbols = std::make_unique<symbol_table>(module);
    return *all_symbols;
  }

  code_scopes& scopes_of(Dwarf_Die* unit) {
    std::unique_ptr<code_scopes>& known = scopes[dwarf_dieoffset(unit)];
    if (known == nullptr) known = std::make_unique<code_scopes>(unit);
    return *known;
  }

  /// By the symbol table. `place` already has the line, if it is known.
  void add_symbol(Dwarf_Addr address, function_at place, std::vector<function_at>& functions) {
    GElf_Off behind = 0;
    const char* name = nullptr;
    if (const sized_symbol* const function = symbols().function_at(address - 1); function != nullptr) {
      name = function->name;
      behind = address - 1 - function->begin;
    } else {
      // Labels of assembly sources have no size.
      GElf_Sym symbol;
      name = dwfl_module_addrinfo(module, address - 1, &behind, &symbol, nullptr, nullptr, nullptr);
    }
    if (name == nullptr || *name == '\0') return;
    place.name = readable_name(name);
    place.offset = behind + 1;
    functions.push_back(std::move(place));
  }

  /// By debug information: the function and those inlined there. `place` is the innermost line.
  void add_scopes(const unit_code& in, Dwarf_Addr call, function_at place, std::vector<function_at>& functions) {
    if (in.unit == nullptr) return;
    code_scopes& known = scopes_of(in.unit);
    for (std::size_t at = known.at(call - in.bias); at != code_scopes::none; at = known[at].around) {
      Dwarf_Die* const entry = &known[at].entry;
      place.name = name_of(entry);
      if (!place.name.empty()) functions.push_back(place);
      put_call_place(in.unit, entry, place);
    }
  }
};

module_symbols::module_symbols(const std::string& path) : state_(std::make_unique<state>(path)) {}
module_symbols::~module_symbols() = default;

std::vector<function_at> module_symbols::around(std::uint64_t offset) const {
  std::vector<function_at> functions;
  if (state_->module == nullptr || offset == 0) return functions;
  const Dwarf_Addr call = offset - 1;  // the last byte of the call
  function_at place;
  if (!is_of_c_library(state_->path)) {
    const unit_code unit = state_->unit_at(call);
    state::put_line(unit, call, place);
    state_->add_scopes(unit, call, place, functions);
  }
  if (functions.empty()) state_->add_symbol(offset, place, functions);
  return functions;
}

object_at module_symbols::object(std::uint64_t address) const {
  if (state_->module == nullptr) return {};
  const sized_symbol* const symbol = state_->symbols().object_at(address);
  return symbol == nullptr ? object_at() : object_at{readable_name(symbol->name), address - symbol->begin};
}

object_at module_symbols::member(std::uint64_t address) const {
  object_at found = object(address);
  if (found.name.empty() || is_of_c_library(state_->path)) return found;
  if (state_->all_variables == nullptr) state_->all_variables = std::make_unique<variables>(state_->module);
  found.name += state_->all_variables->members(address - found.offset, found.offset);
  return found;
}

static_object module_symbols::static_object_at(std::uint64_t address) const {
  if (state_->module == nullptr) return {};
  const symbol_table& all = state_->symbols();
  const sized_symbol* const symbol = all.object_at(address);
  if (symbol == nullptr) return {};
  static_object object{readable_name(symbol->name), {}, symbol->size, address - symbol->begin};
  if (all.objects_named(object.name) == 1) return object;
  if (all.objects_named(object.name, symbol->file) == 1) {
    object.file = symbol->file;
    return object;
  }
  // Two functions' own objects, or two files with one name: only their addresses distinguish them.
  object.file = symbol->file != nullptr ? fmt::format("{}, {:#x}", symbol->file, symbol->begin)
                                        : base::hexadecimal(symbol->begin);
  return object;
}

bool module_symbols::is_stale() const noexcept {
  struct stat now{};
  const struct stat& then = state_->opened;
  return stat(state_->path.c_str(), &now) != 0 || now.st_ino != then.st_ino || now.st_dev != then.st_dev ||
         now.st_mtim.tv_sec != then.st_mtim.tv_sec || now.st_mtim.tv_nsec != then.st_mtim.tv_nsec ||
         now.st_size != then.st_size;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
