// SPDX-License-Identifier: Apache-2.0
#include "operands.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace txsync::sim::toolchain {
namespace {

constexpr std::array<std::string_view, 16> names = {"ax", "bx", "cx",  "dx",  "si",  "di",  "bp",  "sp",
                                                    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr std::array<std::string_view, 8> low_bytes = {"al", "bl", "cl", "dl", "sil", "dil", "bpl", "spl"};

constexpr register_set bit(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return register_set{1} << i;
  }
  return 0;
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return text.ends_with(end); });
}
bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}

std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (i > start) parts.push_back(text.substr(start, i - start));
      start = i + 1;
    } else {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    }
  }
  return parts;
}

bool is_memory(std::string_view operand) {
  if (operand.starts_with("%st")) return false;  // %st(1)
  return operand.find('(') != std::string_view::npos || operand.find("s:") != std::string_view::npos ||
         starts_with_any(operand, {"0x", "*0x"});
}

// "[*][%seg:][-0x8][(base,index,scale)]"
memory_operand parse(std::string_view text) {
  memory_operand read;
  if (text.starts_with("*")) text.remove_prefix(1);
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    read.segment = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  const std::size_t open = text.find('(');
  const std::string displacement(text.substr(0, open));
  const bool negative = displacement.starts_with("-");
  const auto size = static_cast<std::int64_t>(std::strtoull(displacement.c_str() + (negative ? 1 : 0), nullptr, 16));
  read.displacement = negative ? -size : size;
  if (open == std::string_view::npos) return read;
  text = text.substr(open + 1, text.find(')') - open - 1);
  const std::vector<std::string_view> registers = split_operands(text);
  if (text.starts_with(",")) {
    if (!registers.empty()) read.index = registers[0];
  } else {
    if (!registers.empty()) read.base = registers[0];
    if (registers.size() > 1) read.index = registers[1];
  }
  return read;
}

bool only_computes(std::string_view mnemonic) {
  return mnemonic.starts_with("lea") || mnemonic.find("nop") != std::string_view::npos ||
         starts_with_any(mnemonic, {"prefetch", "endbr", "clflush", "clwb"});
}

bool only_reads(std::string_view mnemonic) {
  return starts_with_any(
             mnemonic, {"cmp", "test", "ucomis", "comis", "vucomis", "vcomis", "bt",   "fld",  "fild",  "mul",   "imul",
                        "div", "idiv", "push",   "fadd",  "fsub",    "fmul",   "fdiv", "fcom", "ptest", "vptest"}) &&
         !starts_with_any(mnemonic, {"btr", "bts", "btc", "cmpxchg", "lock"});
}

bool is_jump_or_call(std::string_view mnemonic) {
  return mnemonic.ends_with("call") || mnemonic.starts_with("j") || mnemonic.find(" j") != std::string_view::npos;
}

}  // namespace

const register_set preserved_registers =
    bit("bx") | bit("bp") | bit("sp") | bit("r12") | bit("r13") | bit("r14") | bit("r15");

register_set register_bit(std::string_view name) {
  if (name.starts_with("%")) name.remove_prefix(1);
  for (std::size_t i = 0; i < low_bytes.size(); ++i) {
    if (low_bytes[i] == name) return register_set{1} << i;
  }
  if (name.size() > 2 && ends_with_any(name, {"d", "w", "b"}) && name.starts_with("r")) name.remove_suffix(1);
  if (name.size() == 3 && (name.starts_with("r") || name.starts_with("e")) && !bit(name)) name.remove_prefix(1);
  return bit(name);
}

bool memory_operand::in(register_set frame) const {
  if (!segment.empty() && segment == "%fs") return false;
  return (register_bit(base) & frame) != 0 || (register_bit(index) & frame) != 0;
}

bool memory_operand::is_near(const memory_operand& other, int bytes) const {
  return segment == other.segment && base == other.base && index == other.index &&
         std::abs(displacement - other.displacement) < bytes;
}

std::vector<memory_operand> memory_operands(const instruction& here) {
  if (only_computes(here.mnemonic) || here.operands.empty()) return {};
  const std::vector<std::string_view> parts = split_operands(here.operands);
  std::vector<memory_operand> found;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_jump_or_call(here.mnemonic) && !parts[i].starts_with("*")) continue;
    if (parts[i].starts_with("$") || parts[i].starts_with("*%") || !is_memory(parts[i])) continue;
    found.push_back(parse(parts[i]));
    const bool last = i + 1 == parts.size();
    found.back().is_written = last && !is_jump_or_call(here.mnemonic) && !only_reads(here.mnemonic);
  }
  return found;
}

std::string_view relocated_symbol(const instruction& here) {
  std::string_view text = here.relocation;
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return {};
  text.remove_prefix(space + 1);
  const std::size_t addend = text.find_last_of("+-");
  if (addend != std::string_view::npos && text.substr(addend + 1).starts_with("0x")) text = text.substr(0, addend);
  return text;
}

void track_frame(const instruction& here, register_set& frame) {
  const std::vector<std::string_view> parts = split_operands(here.operands);
  if (parts.empty() || !parts.back().starts_with("%")) return;
  const register_set target = register_bit(parts.back());
  if (target == 0 || target == register_bit("%rsp")) return;
  const std::string_view what = here.mnemonic;
  if (starts_with_any(what, {"cmp", "test", "push", "bt"}) || is_jump_or_call(what)) return;
  bool still = false;
  if (what == "mov" && parts.size() == 2) still = (register_bit(parts[0]) & frame) != 0 && parts[0].starts_with("%");
  if (what.starts_with("lea") && is_memory(parts[0])) still = parse(parts[0]).in(frame);
  if (starts_with_any(what, {"add", "sub", "and", "inc", "dec"})) {
    const bool from_frame = parts.size() > 1 && parts[0].starts_with("%") && (register_bit(parts[0]) & frame) != 0;
    still = (frame & target) != 0 || (what.starts_with("add") && from_frame);
  }
  if (what.starts_with("cmov")) still = (frame & target) != 0 && (register_bit(parts[0]) & frame) != 0;
  frame = still ? frame | target : frame & ~target;
}

const char* unfit_instruction(const instruction& here) {
  const std::string_view what = here.mnemonic;
  if (starts_with_any(what, {"rdtsc", "rdpmc"}))
    return "reads a clock of the machine beneath; the recipe of txsync-c++ replaces it";
  if (starts_with_any(what, {"rdrand", "rdseed"})) return "is different on every run";
  if (what == "syscall" || what == "sysenter" || what == "int")
    return "a system call that the simulated machine does not see";
  if (starts_with_any(what, {"xbegin", "xend", "xabort", "xtest", "xacquire", "xrelease"})) {
    return "a hardware transaction of the machine beneath; the recipe of txsync-c++ replaces it";
  }
  return nullptr;
}

}  // namespace txsync::sim::toolchain
