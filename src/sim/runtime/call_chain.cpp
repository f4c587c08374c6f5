// SPDX-License-Identifier: Apache-2.0
#include "call_chain.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <csetjmp>
#include <cstring>
#include <initializer_list>

#include "program_steps.hpp"
#include "records.hpp"
#include "state.hpp"

// libstdc++'s function, if the image has it. With a null buffer, the name is in memory from malloc().
extern "C" char* __cxa_demangle(const char* name, char* buffer, std::size_t* size, int* status) __attribute__((weak));

namespace txsync::sim {

namespace {

// Like txsync_sim_switch, but instead of going on there, it calls `function` as if from there. The function must not
// return; it must switch back.
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

/// Null if no function in the table contains the address.
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

/// Whether a function is the runtime's own: between the program and here, or below a thread's first function.
bool is_runtime(const char* name) noexcept {
  if (starts_with(name, "_ZN6txsync3sim") || starts_with(name, "__tsan_")) return true;
  // Other functions with that prefix replace a library's.
  static constexpr const char* instructions[] = {
      "txsync_sim_begin", "txsync_sim_begin_rollback_only", "txsync_sim_begin_by_prefix", "txsync_sim_warm_begin",
      "txsync_sim_end",   "txsync_sim_hle_acquire",         "txsync_sim_hle_release",     "txsync_sim_abort",
      "txsync_sim_relax", "txsync_sim_abort_busy"};
  for (const char* const one : instructions) {
    if (std::strcmp(name, one) == 0) return true;
  }
  return false;
}

/// The length of the name without the parameter list and without what compilers add for clones.
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
  for (const char* const prefix : {"__wrap_", "txsync_sim_"}) {  // of names that the recipe and its linker have renamed
    if (starts_with(name, prefix)) name += std::strlen(prefix);
  }
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

const char* name_of_frame(std::uintptr_t code) noexcept { return function_at(code - 1); }

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* raw) {
  call_chain& so_far = *static_cast<call_chain*>(raw);
  int is_signal_frame = 0;
  const std::uintptr_t next = _Unwind_GetIPInfo(context, &is_signal_frame);
  if (next == 0) return _URC_END_OF_STACK;
  const std::uintptr_t code = is_signal_frame != 0 ? next + 1 : next;
  const char* name = name_of_frame(code);
  const bool inner = so_far.count == 0;
  if (name != nullptr && is_runtime(name)) return inner ? _URC_NO_REASON : _URC_END_OF_STACK;
  if (inner && (name == nullptr || std::strcmp(name, "__restore_rt") == 0)) return _URC_NO_REASON;
  so_far.codes[so_far.count++] = code;
  const bool is_last = name != nullptr && std::strcmp(name, "txsync_sim_user_main") == 0;
  return so_far.count == call_chain::max_calls || is_last ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// The current walk. If libgcc finds no table for an address, it reads the instructions there, to see whether a
/// signal's frame is there. The lowest frame of a coroutine may return to such an address, where nothing need be
/// mapped.
struct guarded_walk {
  bool goes_on = false;
  call_chain found;
  std::jmp_buf end;
};
constinit guarded_walk walking{};

call_chain walk() noexcept {
  walking.found = {};
  walking.goes_on = true;
  // NOLINTNEXTLINE(cert-err52-cpp): a fault has no other way out of libgcc
  if (setjmp(walking.end) == 0) _Unwind_Backtrace(add_frame, &walking.found);
  walking.goes_on = false;
  return walking.found;
}

/// Of the library, the function that the program has called is enough where the program is what is explored.
unsigned first_frame_to_name(const call_chain& chain) noexcept {
  unsigned first = 0;
  if (!state.follows_program) return first;
  while (first + 1 < chain.count && is_library_code(chain.codes[first]) && is_library_code(chain.codes[first + 1]))
    ++first;
  return first;
}

/// Stack space that the unwinder needs.
constexpr std::size_t room_to_look = std::size_t{32} << 10;

constinit std::uintptr_t visitor = 0;
constinit std::uintptr_t visited = 0;
constinit call_chain seen_there{};

/// The stack of a thread that has not begun yet is aligned as before a call, not as after one.
[[gnu::force_align_arg_pointer]] void look_and_go_back() {
  seen_there = walk();
  txsync_sim_switch(&visited, visitor, 0);
}

}  // namespace

call_chain calls_of_caller() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const thread_record& thread = *state.current;
  const std::uintptr_t left = here - thread.stack_low;
  return left < stack_bytes && left < room_to_look ? call_chain{} : walk();
}

call_chain calls_of(thread_record& thread) noexcept {
  // Not on a signal's stack, either: the fault may have been a jump to nowhere.
  const std::uintptr_t left = thread.stack_pointer - thread.stack_low;
  if (left < room_to_look || left >= stack_bytes) return {};
  // The walk overwrites the registers that the thread has saved below its return address.
  constexpr std::size_t saved_registers = 6 * sizeof(std::uintptr_t);
  std::uint8_t registers[saved_registers];
  std::memcpy(registers, reinterpret_cast<const void*>(thread.stack_pointer), saved_registers);
  txsync_sim_visit(&visitor, thread.stack_pointer, look_and_go_back);
  std::memcpy(reinterpret_cast<void*>(thread.stack_pointer), registers, saved_registers);
  return seen_there;
}

void add_call_chain(line_text& line, const call_chain& chain) noexcept {
  if (chain.count == 0) line << "code that no function of the program is known to have called";
  const unsigned first = first_frame_to_name(chain);
  for (unsigned i = first; i < chain.count; ++i) {
    if (i != first) line << " < ";
    const char* name = has_record_file() ? nullptr : name_of_frame(chain.codes[i]);
    if (has_record_file()) {  // the reader adds its name and line
      (line << "code at ").hexadecimal(chain.codes[i]);
    } else if (name != nullptr) {
      add_name(line, name);
    } else {
      line.hexadecimal(chain.codes[i] - 1);
    }
  }
}

void add_code(line_text& line, std::uintptr_t code) noexcept {
  const char* const name = has_record_file() ? nullptr : name_of_frame(code);
  if (name != nullptr) return add_name(line, name);
  (line << "code at ").hexadecimal(code);
}

void add_call_chain(line_text& line) noexcept { add_call_chain(line, walk()); }

void add_call_chain_of(line_text& line, thread_record& thread) noexcept { add_call_chain(line, calls_of(thread)); }

void add_places(line_text& line, bool (*chosen)(const thread_record& thread)) noexcept {
  const thread_record* here = state.current;
  set_current(nullptr);
  constexpr unsigned most = 8;
  unsigned told = 0;
  for (unsigned i = 0; i < state.thread_count && told < most; ++i) {
    thread_record& thread = state.threads[i];
    if (!chosen(thread)) continue;
    line << (told++ == 0 ? " thread " : "; thread ") << i << " in ";
    &thread == here ? add_call_chain(line) : add_call_chain_of(line, thread);
  }
}

void end_walk_at_fault() noexcept {
  if (!walking.goes_on) return;
  walking.goes_on = false;
  std::longjmp(walking.end, 1);  // NOLINT(cert-err52-cpp): as above
}

void make_tables_of_frames() noexcept {
  _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_NO_REASON; }, nullptr);
}

}  // namespace txsync::sim
