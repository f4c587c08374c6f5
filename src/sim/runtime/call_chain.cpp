// SPDX-License-Identifier: Apache-2.0
#include "call_chain.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <cstring>

#include "records.hpp"

// libstdc++'s, where the image has it: with a null buffer the name comes from malloc().
extern "C" char* __cxa_demangle(const char* name, char* buffer, std::size_t* size, int* status) __attribute__((weak));

namespace txsync::sim {

namespace {

// Like txsync_sim_switch, but that in place of going on there, `function` is called as if from there. It must not
// return.
extern "C" void txsync_sim_visit(std::uintptr_t* save, std::uintptr_t to, void (*function)());
asm(R"(
.text
.type txsync_sim_visit,@function
txsync_sim_visit:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,(%rdi)
  mov %rsi,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  jmp *%rdx
.size txsync_sim_visit,.-txsync_sim_visit
)");

// ---- the image's own table of symbols

struct symbol_table {
  const Elf64_Sym* symbols = nullptr;
  std::size_t count = 0;
  const char* names = nullptr;
};

symbol_table read_symbols() noexcept {
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat about{};
  if (file < 0 || fstat(file, &about) != 0) return {};
  void* image = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (image == MAP_FAILED) return {};
  const auto* start = static_cast<const char*>(image);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(start);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(start + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    return {reinterpret_cast<const Elf64_Sym*>(start + sections[i].sh_offset), sections[i].sh_size / sizeof(Elf64_Sym),
            start + sections[sections[i].sh_link].sh_offset};
  }
  return {};
}

/// Null where no function of the table holds it.
const char* function_at(std::uintptr_t address) noexcept {
  static const symbol_table table = read_symbols();
  for (std::size_t i = 0; i < table.count; ++i) {
    const Elf64_Sym& symbol = table.symbols[i];
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && address - symbol.st_value < symbol.st_size)
      return table.names + symbol.st_name;
  }
  return nullptr;
}

bool starts_with(const char* text, const char* with) noexcept {
  return std::strncmp(text, with, std::strlen(with)) == 0;
}

/// The runtime's own, between the program and here, or below a thread's first function.
bool is_runtime(const char* name) noexcept {
  return starts_with(name, "_ZN6txsync3sim") || starts_with(name, "__tsan_");
}

/// Without the list of parameters, and what a compiler says of clones.
std::size_t length_without_parameters(const char* name) noexcept {
  const char* clone = std::strstr(name, " [clone");
  std::size_t length = clone != nullptr ? static_cast<std::size_t>(clone - name) : std::strlen(name);
  std::size_t end = length;
  while (end != 0 && name[end - 1] != ')' && name[end - 1] != '>' && name[end - 1] != ':') --end;
  if (end == 0 || name[end - 1] != ')') return length;
  unsigned open = 0;
  while (end != 0) {
    --end;
    open += name[end] == ')' ? 1 : 0;
    open -= name[end] == '(' ? 1 : 0;
    if (open == 0) break;
  }
  return end != 0 ? end : length;
}

void add_name(line_text& line, const char* name) noexcept {
  constexpr const char* prefix = "txsync_sim_";  // of what the recipe has renamed
  if (starts_with(name, prefix)) name += std::strlen(prefix);
  if (std::strcmp(name, "user_main") == 0) name = "main";
  int status = 0;
  const char* plain = __cxa_demangle != nullptr ? __cxa_demangle(name, nullptr, nullptr, &status) : nullptr;
  if (plain == nullptr) plain = name;
  constexpr std::size_t most = 100;
  char part[most + 4] = {};
  const std::size_t length = length_without_parameters(plain);
  std::memcpy(part, plain, length < most ? length : most);
  if (length > most) std::strcpy(part + most, "...");
  line << part;
}

struct walk {
  line_text& line;
  unsigned frames;
};

constexpr unsigned most_frames = 12;

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* raw) {
  walk& so_far = *static_cast<walk*>(raw);
  int is_signal_frame = 0;
  const std::uintptr_t next = _Unwind_GetIPInfo(context, &is_signal_frame);
  if (next == 0) return _URC_END_OF_STACK;
  const std::uintptr_t address = is_signal_frame != 0 ? next : next - 1;
  const char* name = function_at(address);
  const bool inner = so_far.frames == 0;
  if (name != nullptr && is_runtime(name)) return inner ? _URC_NO_REASON : _URC_END_OF_STACK;
  if (inner && (name == nullptr || std::strcmp(name, "__restore_rt") == 0)) return _URC_NO_REASON;
  so_far.line << (inner ? "" : " < ");
  if (has_record_file()) {  // the reader names it, with its line; as behind a call
    (so_far.line << "code at ").hexadecimal(address + 1);
  } else if (name != nullptr) {
    add_name(so_far.line, name);
  } else {
    so_far.line.hexadecimal(address);
  }
  const bool is_last = name != nullptr && std::strcmp(name, "txsync_sim_user_main") == 0;
  return ++so_far.frames == most_frames || is_last ? _URC_END_OF_STACK : _URC_NO_REASON;
}

constinit std::uintptr_t visitor = 0;
constinit std::uintptr_t visited = 0;
constinit line_text* wanted_line = nullptr;

void show_and_go_back() {
  add_call_chain(*wanted_line);
  txsync_sim_switch(&visited, visitor, 0);
}

}  // namespace

void add_call_chain(line_text& line) noexcept {
  walk so_far{line, 0};
  _Unwind_Backtrace(add_frame, &so_far);
  if (so_far.frames == 0) line << "code that no function of the program is known to have called";
}

void make_tables_of_frames() noexcept {
  _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_NO_REASON; }, nullptr);
}

void add_call_chain_of(line_text& line, thread_record& thread) noexcept {
  wanted_line = &line;
  txsync_sim_visit(&visitor, thread.stack_pointer, show_and_go_back);
}

}  // namespace txsync::sim
