// SPDX-License-Identifier: Apache-2.0
#include "attach/unwinder.hpp"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/descriptor.hpp"

namespace txsync::inline TXSYNC_BACKEND::attach {
namespace {

constexpr std::size_t max_frames = 128;
constexpr const char* vdso_name = "[vdso]";

}  // namespace

struct unwinder::session {
  int process = 0;
  std::vector<char> vdso_image;
  Dwfl* all = nullptr;
  bool attached = false;
  const thread_state* state = nullptr;  // that is being unwound
  call_chain* made = nullptr;

  session(const target& of, const memory_map& map) : process(of.process) {
    static const Dwfl_Callbacks callbacks = {
        .find_elf = find_elf, .find_debuginfo = find_nothing, .section_address = nullptr, .debuginfo_path = nullptr};
    all = dwfl_begin(&callbacks);
    if (all == nullptr) return;
    dwfl_report_begin(all);
    for (const loaded_file& file : map.files()) report(file);
    for (const mapping& one : map.mappings()) {
      if (one.path == vdso_name) report_vdso(one);
    }
    dwfl_report_end(all, nullptr, nullptr);
    static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                                  .get_thread = get_thread,
                                                  .memory_read = read_word,
                                                  .set_initial_registers = set_registers,
                                                  .detach = nullptr,
                                                  .thread_detach = nullptr};
    attached = dwfl_attach_state(all, nullptr, process, &threads, this);
  }
  ~session() {
    if (all != nullptr) dwfl_end(all);
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  void report(const loaded_file& file) const {
    base::descriptor opened(open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (opened.get() < 0) return;
    // It takes the descriptor when it takes the file.
    const int number = dup(opened.get());
    if (dwfl_report_elf(all, file.path.c_str(), file.path.c_str(), number, file.bias, true) == nullptr) close(number);
  }

  /// Code that the kernel brings is in memory only.
  void report_vdso(const mapping& one) {
    vdso_image.resize(one.end - one.begin);
    if (read_memory(process, one.begin, vdso_image.data(), vdso_image.size()) != vdso_image.size()) return;
    if (Dwfl_Module* const module = dwfl_report_module(all, vdso_name, one.begin, one.end); module != nullptr) {
      void** user = nullptr;
      dwfl_module_info(module, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
      *user = this;
    }
  }

  static int find_elf(Dwfl_Module*, void** user, const char* name, Dwarf_Addr, char** file, Elf** elf) {
    *file = nullptr;
    auto* const self = static_cast<session*>(*user);
    if (self != nullptr && std::strcmp(name, vdso_name) == 0)
      *elf = elf_memory(self->vdso_image.data(), self->vdso_image.size());
    return -1;  // no descriptor
  }
  /// The tables for unwinding are in the files themselves.
  static int find_nothing(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
    return -1;
  }

  static pid_t next_thread(Dwfl*, void* self, void** argument) {
    if (*argument != nullptr) return 0;
    *argument = self;
    return static_cast<session*>(self)->process;
  }
  static bool get_thread(Dwfl*, pid_t, void* self, void** argument) {
    *argument = self;
    return true;
  }

  static bool read_word(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
    const auto& self = *static_cast<session*>(argument);
    const thread_state& copied = *self.state;
    const std::uint64_t offset = address - copied.stack;
    if (offset < copied.bytes.size() && copied.bytes.size() - offset >= sizeof *result) {
      std::memcpy(result, copied.bytes.data() + offset, sizeof *result);
      return true;
    }
    // Of a stack only the copy is from one moment. Elsewhere lie tables that do not change.
    if (offset < 2 * max_stack_bytes) return false;
    return read_memory(self.process, address, result, sizeof *result) == sizeof *result;
  }

  static bool set_registers(Dwfl_Thread* thread, void* argument) {
    const thread_state& copied = *static_cast<session*>(argument)->state;
    for (const auto& [number, value] : copied.registers) {
      const Dwarf_Word word = value;
      if (!dwfl_thread_state_registers(thread, static_cast<int>(number), 1, &word)) return false;
    }
    dwfl_thread_state_register_pc(thread, copied.code);
    return true;
  }

  /// Whether the unwind table says of the code that nothing has called it, as it does of a thread's first function. A
  /// chain that ends elsewhere lacks a register or a table.
  bool is_outermost(const code_frame& frame) const {
    const Dwarf_Addr code = frame.code - (frame.is_call ? 1 : 0);
    Dwfl_Module* const module = dwfl_addrmodule(all, code);
    Dwarf_Addr bias = 0;
    Dwarf_CFI* const table = module == nullptr ? nullptr : dwfl_module_eh_cfi(module, &bias);
    Dwarf_Frame* rules = nullptr;
    if (table == nullptr || dwarf_cfi_addrframe(table, code - bias, &rules) != 0) return false;
    const std::unique_ptr<Dwarf_Frame, void (*)(void*)> owner(rules, std::free);
    const int return_register = dwarf_frame_info(rules, nullptr, nullptr, nullptr);
    Dwarf_Op room[3];
    Dwarf_Op* rule = nullptr;
    std::size_t length = 0;
    // No rule in the room given: undefined. (A null pointer would mean that the register keeps its value.)
    return return_register >= 0 && dwarf_frame_register(rules, return_register, room, &rule, &length) == 0 &&
           length == 0 && rule == room;
  }

  static int add_frame(Dwfl_Frame* frame, void* argument) {
    call_chain& into = *static_cast<session*>(argument)->made;
    Dwarf_Addr code = 0;
    bool is_next = false;
    if (into.frames.size() >= max_frames || !dwfl_frame_pc(frame, &code, &is_next)) return DWARF_CB_ABORT;
    into.frames.push_back({code, !is_next});
    return DWARF_CB_OK;
  }
};

unwinder::unwinder(const target& of, const memory_map& map) : session_(std::make_unique<session>(of, map)) {}
unwinder::~unwinder() = default;

call_chain unwinder::unwind(const thread_state& state) {
  call_chain made;
  session_->state = &state;
  session_->made = &made;
  if (session_->attached)
    (void)dwfl_getthread_frames(session_->all, session_->process, session::add_frame, session_.get());
  made.complete = !made.frames.empty() && session_->is_outermost(made.frames.back());
  if (made.frames.empty()) made.frames.push_back({state.code, false});
  return made;
}

}  // namespace txsync::inline TXSYNC_BACKEND::attach
