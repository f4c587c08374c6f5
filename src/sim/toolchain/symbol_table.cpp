// SPDX-License-Identifier: Apache-2.0
#include "symbol_table.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace txsync::sim::toolchain {
namespace {

constexpr std::string_view prefix = "txsync_sim_";

symbol_rule section_rule(const std::string& line, const std::string& place) {
  const std::string name = line.substr(1, line.find(']') - 1);
  if (name == "wrapped") return {treatment::wrapped, {}, {}};
  if (name == "outside") return {treatment::outside, {}, {}};
  if (name == "plain") return {treatment::plain, {}, {}};
  constexpr std::string_view ends = "ends: ";
  if (name.starts_with(ends)) return {treatment::ends, {}, name.substr(ends.size())};
  throw std::runtime_error(place + ": section [" + name + "]; allowed: wrapped, outside, plain, ends: REASON");
}

// They are weak: a program may have a function of such a name. Over the call, a thunk keeps every register that carries an argument (rax: the number of vector arguments). It leaves the
// stack's arguments where they are.
constexpr std::string_view thunk_macro = R"(# Generated from symbols.txt.
.macro begin name
.weak txsync_sim_\name
.type txsync_sim_\name, @function
.section .text.txsync_sim_\name, "ax", @progbits
txsync_sim_\name:
  .cfi_startproc
.endm
.macro end name, text
  .cfi_endproc
.size txsync_sim_\name, . - txsync_sim_\name
.section .rodata.txsync_sim_\name, "a", @progbits
\text: .string "\name"
.endm

.macro thunk name, text
  begin \name
  sub $0xb8, %rsp
  .cfi_adjust_cfa_offset 0xb8
  mov %rdi, 0x80(%rsp)
  mov %rsi, 0x88(%rsp)
  mov %rdx, 0x90(%rsp)
  mov %rcx, 0x98(%rsp)
  mov %r8, 0xa0(%rsp)
  mov %r9, 0xa8(%rsp)
  mov %rax, 0xb0(%rsp)
.irp n, 0, 1, 2, 3, 4, 5, 6, 7
  movaps %xmm\n, 0x10*\n(%rsp)
.endr
  lea \text(%rip), %rdi
  call txsync_sim_system_call
.irp n, 0, 1, 2, 3, 4, 5, 6, 7
  movaps 0x10*\n(%rsp), %xmm\n
.endr
  mov 0x80(%rsp), %rdi
  mov 0x88(%rsp), %rsi
  mov 0x90(%rsp), %rdx
  mov 0x98(%rsp), %rcx
  mov 0xa0(%rsp), %r8
  mov 0xa8(%rsp), %r9
  mov 0xb0(%rsp), %rax
  add $0xb8, %rsp
  .cfi_adjust_cfa_offset -0xb8
  jmp \name
  end \name, \text
.endm

.macro ends name, text
  begin \name
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  lea \text(%rip), %rdi
  call txsync_sim_unsupported
  end \name, \text
.endm
.section .note.GNU-stack, "", @progbits
)";

}  // namespace

symbol_table::symbol_table(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) throw std::runtime_error(file + ": cannot be read");
  symbol_rule section;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string place = file + ":" + std::to_string(number);
    if (line.starts_with("[")) {
      section = section_rule(line, place);
      continue;
    }
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) add(word, section, place);
  }
}

void symbol_table::add(const std::string& word, const symbol_rule& section, const std::string& place) {
  if (section.what == treatment::unknown) throw std::runtime_error(place + ": '" + word + "' stands in no section");
  if (word.ends_with("*")) {
    if (section.what != treatment::plain) throw std::runtime_error(place + ": a pattern outside of [plain]");
    plain_prefixes_.push_back(word.substr(0, word.size() - 1));
    return;
  }
  symbol_rule rule = section;
  const std::string name = word.substr(0, word.find('='));
  if (rule.what != treatment::plain) {
    rule.target = std::string(prefix) + (name == word ? name : word.substr(name.size() + 1));
    const auto [other, fresh] = names_by_target_.emplace(rule.target, name);
    if (!fresh) throw std::runtime_error(place + ": '" + name + "' and '" + other->second + "' become one symbol");
  }
  if (!exact_.emplace(name, rule).second) throw std::runtime_error(place + ": '" + name + "' stands here twice");
}

symbol_rule symbol_table::find(std::string_view name) const {
  if (const auto found = exact_.find(name); found != exact_.end()) return found->second;
  for (const std::string& start : plain_prefixes_) {
    if (name.starts_with(start)) return {treatment::plain, {}, {}};
  }
  return {};
}

std::string symbol_table::given_name(const std::string& name) const {
  const auto found = names_by_target_.find(name);
  return found == names_by_target_.end() ? name : found->second;
}

std::string symbol_table::map() const {
  std::string text;
  for (const auto& [target, name] : names_by_target_) text.append(name).append(" ").append(target).append("\n");
  return text;
}

std::string symbol_table::thunks() const {
  std::string text(thunk_macro);
  for (const auto& [name, rule] : exact_) {
    if (rule.what != treatment::outside && rule.what != treatment::ends) continue;
    text.append(rule.what == treatment::ends ? "ends " : "thunk ").append(name);
    text.append(", .Lname_").append(name).append("\n");
  }
  return text;
}

std::vector<std::string> symbol_table::wrapped_targets() const {
  std::vector<std::string> targets;
  for (const auto& [name, rule] : exact_) {
    if (rule.what == treatment::wrapped) targets.push_back(rule.target);
  }
  return targets;
}

}  // namespace txsync::sim::toolchain
