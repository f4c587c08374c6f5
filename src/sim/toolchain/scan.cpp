// SPDX-License-Identifier: Apache-2.0
#include "scan.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "operands.hpp"

namespace txsync::sim::toolchain {
namespace {

// What is known before an instruction, on every path to it.
struct knowledge {
  bool reached = false;
  int hooked = 0;       // bytes of the last hook whose access has not come yet; whole_range for a range hook
  int covered = 0;      // bytes of the hook whose access has come; the rest of the same object may follow
  memory_operand last;  // that access
  register_set frame;   // registers that hold an address in the function's own frame, or of a constant
  // Registers that hold an address of another object's data. What is read there without a hook is constant.
  register_set other = 0;

  bool operator==(const knowledge&) const = default;
};
constexpr int whole_range = 1 << 20;

knowledge meet(const knowledge& a, const knowledge& b) {
  if (!a.reached) return b;
  if (!b.reached) return a;
  knowledge both = a;
  both.hooked = std::min(a.hooked, b.hooked);
  both.covered = a.last == b.last ? std::min(a.covered, b.covered) : 0;
  both.frame = a.frame & b.frame;
  both.other = a.other & b.other;
  return both;
}

knowledge at_entry() {
  knowledge start;
  start.reached = true;
  start.frame = register_bit("%rsp");
  return start;
}

// The bytes that a hook announces; nothing for a call of another function.
std::optional<int> hooked_bytes(std::string_view callee) {
  if (!callee.starts_with("__tsan_")) return std::nullopt;
  callee.remove_prefix(7);
  if (callee.starts_with("vptr_")) return 8;
  if (callee.ends_with("_range")) return whole_range;
  for (const std::string_view kind : {"unaligned_", "volatile_"}) {
    if (callee.starts_with(kind)) callee.remove_prefix(kind.size());
  }
  for (const std::string_view kind : {"read_write", "read", "write"}) {
    if (callee.starts_with(kind)) return std::atoi(std::string(callee.substr(kind.size())).c_str());
  }
  return std::nullopt;
}

std::string function_at(const code_section& section, std::uint64_t address) {
  const auto after = section.functions.upper_bound(address);
  return after == section.functions.begin() ? std::string() : std::prev(after)->second;
}

bool is_cold(const std::string& name) { return name.find(".cold") != std::string::npos; }

// Functions that keep their frame's address in rbp.
std::set<std::string> framed_functions(const object_file& object) {
  std::set<std::string> framed;
  for (const code_section& section : object.code) {
    for (const instruction& here : section.instructions) {
      if (here.mnemonic == "mov" && here.operands == "%rsp,%rbp") framed.insert(function_at(section, here.address));
    }
  }
  return framed;
}

class section_scan {
 public:
  section_scan(const object_file& object, const code_section& section, const std::set<std::string>& framed)
      : object_(object), section_(section), framed_(framed), before_(section.instructions.size()) {}

  std::vector<unseen_access> run() {
    seed();
    drain();
    // Code that no path has reached is a case of a switch or a landing pad. Padding between blocks is neither.
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (before_[i].reached || section_.instructions[i].mnemonic.find("nop") != std::string::npos) continue;
      if (section_.instructions[i].operands == "%ax,%ax") continue;
      flow(i, at_unknown_entry(i));
      drain();
    }
    report();
    return std::move(found_);
  }

 private:
  void drain() {
    while (!pending_.empty()) {
      const std::size_t at = pending_.back();
      pending_.pop_back();
      follow(at);
    }
  }

  void flow(std::size_t to, const knowledge& state) {
    if (to >= before_.size()) return;
    const knowledge merged = meet(before_[to], state);
    if (before_[to].reached && merged == before_[to]) return;
    before_[to] = merged;
    pending_.push_back(to);
  }

  std::size_t index_of(std::uint64_t address) const {
    const auto at = std::ranges::lower_bound(section_.instructions, address, {}, &instruction::address);
    if (at == section_.instructions.end() || at->address != address) return before_.size();
    return static_cast<std::size_t>(at - section_.instructions.begin());
  }

  void seed() {
    for (const auto& [address, name] : section_.functions) {
      const std::size_t at = index_of(address);
      if (at < before_.size()) flow(at, is_cold(name) ? at_unknown_entry(at) : at_entry());
    }
  }

  // A cold part is entered from the middle of its function, where the frame is set up. The same holds for a block that
  // no jump of this section names: a case of a switch, a landing pad.
  knowledge at_unknown_entry(std::size_t at) const {
    knowledge state = at_entry();
    const std::string function = whole_function(function_at(section_, section_.instructions[at].address));
    if (framed_.contains(function)) state.frame |= register_bit("%rbp");
    return state;
  }

  void follow(std::size_t at) {
    const instruction& here = section_.instructions[at];
    knowledge after = step(here, before_[at]);
    const bool jump = here.mnemonic.starts_with("j") || here.mnemonic.find(" j") != std::string::npos;
    if (jump && here.relocation.empty() && !here.operands.starts_with("*")) {
      flow(index_of(std::strtoull(here.operands.c_str(), nullptr, 16)), after);
    }
    const bool leaves = here.mnemonic.ends_with("jmp") || here.mnemonic.ends_with("ret") || here.mnemonic == "ud2" ||
                        here.mnemonic == "hlt";
    if (!leaves) flow(at + 1, after);
  }

  knowledge step(const instruction& here, knowledge state) const {
    if (here.mnemonic.ends_with("call")) return after_call(here, state);
    for (const memory_operand& access : memory_operands(here)) {
      if (!is_constant(access, here)) use(access, state);
    }
    track_frame(here, state.frame);
    track_frame(here, state.other);
    if (const register_set target = constant_address(here)) (is_elsewhere(here) ? state.other : state.frame) |= target;
    return state;
  }

  static knowledge after_call(const instruction& here, knowledge state) {
    const std::string_view callee = relocated_symbol(here);
    if (callee.starts_with("__tsan_func_")) return state;
    const std::optional<int> bytes = hooked_bytes(callee);
    state.hooked = bytes.value_or(0);
    state.covered = 0;
    state.frame &= preserved_registers;
    state.other &= preserved_registers;
    return state;
  }

  // An access uses up the hook before it. Its neighbours within the hook's bytes may follow.
  static void use(const memory_operand& access, knowledge& state) {
    if (access.in(state.frame)) return;
    if (state.hooked == whole_range) return;
    if (state.hooked > 0) {
      state.covered = state.hooked;
      state.hooked = 0;
      state.last = access;
    }
  }

  bool is_seen(const memory_operand& access, const instruction& here, const knowledge& state) const {
    if (access.in(state.frame) || state.hooked > 0) return true;
    if (access.in(state.other) && !access.is_written) return true;
    if (state.covered > 0 && access.is_near(state.last, state.covered)) return true;
    return is_constant(access, here);
  }

  bool is_constant(const memory_operand& access, const instruction& here) const {
    if (access.segment == "%fs" && here.relocation.empty()) return true;  // the thread's own control block
    if (here.relocation.empty() || access.is_written) return false;
    if (here.relocation.find("GOT") != std::string::npos) return true;
    return names_constant(here);
  }

  bool names_constant(const instruction& here) const {
    const std::string section = object_.section_of(relocated_symbol(here));
    return section.starts_with(".rodata") || section.starts_with(".data.rel.ro") || section.starts_with(".eh_frame") ||
           section.starts_with(".gcc_except_table") || section.starts_with(".text") || section == "*UND*";
  }

  // The register that gets the address of a constant. What is reached through it counts as the function's own frame.
  register_set constant_address(const instruction& here) const {
    if (here.relocation.empty() || !here.operands.ends_with(last_register(here))) return 0;
    const bool address =
        here.mnemonic.starts_with("lea") ||
        ((here.mnemonic.starts_with("mov") || here.mnemonic.starts_with("add")) && here.operands.starts_with("$"));
    return address && names_constant(here) ? register_bit(last_register(here)) : 0;
  }

  bool is_elsewhere(const instruction& here) const { return object_.section_of(relocated_symbol(here)) == "*UND*"; }

  static std::string_view last_register(const instruction& here) {
    return std::string_view(here.operands).substr(std::min(here.operands.rfind('%'), here.operands.size()));
  }

  // Code that the compiler makes without a source: thunks of virtual functions read the object's virtual table.
  static bool is_thunk(const std::string& function) {
    return function.starts_with("_ZTv") || function.starts_with("_ZTh") || function.starts_with("_ZTc");
  }

  void report() {
    for (std::size_t i = 0; i < section_.instructions.size(); ++i) {
      const instruction& here = section_.instructions[i];
      if (const char* reason = unfit_instruction(here)) add(here, reason);
      if (!before_[i].reached || is_thunk(function_at(section_, here.address))) continue;
      for (const memory_operand& access : memory_operands(here)) {
        if (is_seen(access, here, before_[i])) continue;
        add(here, access.is_written ? "a store that no hook sees" : "a load that no hook sees");
        break;
      }
    }
  }

  void add(const instruction& here, const char* reason) {
    std::string text = here.mnemonic + " " + here.operands;
    const std::string function = whole_function(function_at(section_, here.address));
    found_.push_back({object_.name, section_.name, function, here.address, text, reason});
  }

  const object_file& object_;
  const code_section& section_;
  const std::set<std::string>& framed_;
  std::vector<knowledge> before_;
  std::vector<std::size_t> pending_;
  std::vector<unseen_access> found_;
};

}  // namespace

std::string whole_function(const std::string& name) { return name.substr(0, name.find(".cold")); }

std::vector<unseen_access> unseen_accesses(const object_file& object) {
  std::vector<unseen_access> all;
  const std::set<std::string> framed = framed_functions(object);
  for (const code_section& section : object.code) {
    std::vector<unseen_access> found = section_scan(object, section, framed).run();
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace txsync::sim::toolchain
