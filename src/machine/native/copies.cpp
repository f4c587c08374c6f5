// SPDX-License-Identifier: Apache-2.0
// Detects two copies of the library in one process, for example if a program and a plug-in both link it statically.
// Each copy has its own records of blocks and its own list of sleeping waiters. So they must not share objects that
// need those.
//
// A copy is found by a note in its ELF file. dl_iterate_phdr() shows the notes of all files, whatever symbols they hide
// and however they were opened (except in namespaces of dlmopen()). The note's first word leads to a record in the
// copy's memory; the version follows the word.
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include <txsync/machine/environment.hpp>

#include "../posix/copies.hpp"
#include "../unknown_setting.hpp"

/// What copies read in each other. Its layout belongs to the note's type: a new layout needs a new type.
struct txsync_copy_record {
  const char* separate;            ///< not null: see separate_copy.hpp
  std::atomic<std::uint8_t> told;  ///< this was reported in this process
};

extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const char txsync_separate_copy;
[[gnu::used, gnu::visibility("hidden")]] constinit txsync_copy_record txsync_copy{&txsync_separate_copy, {}};
}

asm(".pushsection .note.txsync, \"a\", %note\n\t"
    ".balign 4\n\t"
    ".long 7, 2f - 1f, 1\n\t"  // the lengths of name and description, the type
    ".asciz \"txsync\"\n\t"
    ".balign 4\n"
    "1:\t.long txsync_copy - 1b\n\t"
    ".asciz \"" TXSYNC_VERSION
    "\"\n"
    "2:\t.balign 4\n\t"
    ".popsection");

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

namespace {

constexpr char note_name[] = "txsync";
constexpr std::uint32_t note_type = 1;

struct copy {
  txsync_copy_record* record = nullptr;  ///< null: none
  const char* file = nullptr;
  std::string_view version;
};

bool is_loaded(const dl_phdr_info& file, const ElfW(Phdr) & part) noexcept {
  for (unsigned i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& whole = file.dlpi_phdr[i];
    if (whole.p_type == PT_LOAD && whole.p_vaddr <= part.p_vaddr &&
        part.p_vaddr + part.p_memsz <= whole.p_vaddr + whole.p_filesz)
      return true;
  }
  return false;
}

constexpr std::size_t rounded_up(std::size_t size, std::size_t to) noexcept { return (size + to - 1) / to * to; }

/// The copy that a note describes, if the note is ours.
copy copy_of_note(const ElfW(Nhdr) & head, const char* name, const char* description) noexcept {
  if (head.n_type != note_type ||
      std::string_view{name, head.n_namesz} != std::string_view{note_name, sizeof note_name})
    return {};
  std::int32_t distance;
  if (head.n_descsz <= sizeof distance) return {};
  std::memcpy(&distance, description, sizeof distance);
  const char* const record = description + distance;
  return {reinterpret_cast<txsync_copy_record*>(const_cast<char*>(record)),
          nullptr,
          {description + sizeof distance, head.n_descsz - sizeof distance - 1}};
}

copy copy_in_notes(const char* at, std::size_t size, std::size_t alignment) noexcept {
  ElfW(Nhdr) head;
  while (size >= sizeof head) {
    std::memcpy(&head, at, sizeof head);
    if (head.n_namesz > size || head.n_descsz > size) break;
    const std::size_t description = rounded_up(sizeof head + head.n_namesz, alignment);
    if (description + head.n_descsz > size) break;
    const copy found = copy_of_note(head, at + sizeof head, at + description);
    if (found.record != nullptr) return found;
    const std::size_t next = rounded_up(description + head.n_descsz, alignment);
    if (next > size) break;
    at += next;
    size -= next;
  }
  return {};
}

copy copy_in(const dl_phdr_info& file) noexcept {
  for (unsigned i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file.dlpi_phdr[i];
    if (part.p_type != PT_NOTE || !is_loaded(file, part)) continue;
    const auto* const notes = reinterpret_cast<const char*>(file.dlpi_addr + part.p_vaddr);
    copy found = copy_in_notes(notes, part.p_memsz, part.p_align == 8 ? 8 : 4);
    found.file = file.dlpi_name;
    if (found.record != nullptr) return found;
  }
  return {};
}

struct copies {
  copy mine;
  copy other;
  bool told = false;
};

int note_copy(dl_phdr_info* file, std::size_t, void* raw) noexcept {
  auto& all = *static_cast<copies*>(raw);
  const copy found = copy_in(*file);
  if (found.record == &txsync_copy) {
    all.mine = found;
  } else if (found.record != nullptr && found.record->separate == nullptr) {
    // relaxed, here and below: the loader runs one constructor at a time
    all.told = all.told || found.record->told.load(std::memory_order_relaxed) != 0;
    all.other = found;
  }
  return 0;
}

/// One line for the standard error.
class diagnostic {
 public:
  void add(std::string_view part) noexcept {
    for (const char one : part.substr(0, sizeof text_ - 1 - length_)) text_[length_++] = one < ' ' ? '?' : one;
  }
  void add(const copy& one) noexcept {
    char path[max_path];
    std::string_view file = one.file;
    if (file.empty()) {  // the program
      const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
      file = length > 0 ? std::string_view{path, static_cast<std::size_t>(length)} : "the program";
    }
    if (file.size() > max_path) {
      add("...");
      file.remove_prefix(file.size() - max_path);
    }
    add(file);
    add(" (");
    add(one.version);
    add(")");
  }
  void report() noexcept {
    text_[length_++] = '\n';
    complain(text_, length_);
  }

 private:
  static constexpr std::size_t max_path = 512;
  char text_[2048];
  std::size_t length_ = 0;
};

bool is_silenced() noexcept {
  const char* const value = environment("TXSYNC_COPIES");
  if (value == nullptr) return false;
  if (std::strcmp(value, "separate") == 0) return true;
  unknown_setting said("TXSYNC_COPIES", "value", value);
  said.allow("separate");
  said.report("it is ignored");
  return false;
}

void report_copies(const copies& all) noexcept {
  diagnostic said;
  said.add("txsync: two copies of the library are in this process, ");
  said.add(all.mine);
  said.add(" and ");
  said.add(all.other);
  said.add(
      ". Atomic blocks of both lose updates of a tm::var. Threads that wait for a lock or a condition variable of both "
      "may sleep for ever. ");
  if (all.mine.version != all.other.version) said.add("As the versions differ, they may share no object at all. ");
  said.add("Link libtxsync.so in both; if they share no objects, TXSYNC_COPIES=separate suppresses this message.");
  said.report();
}

}  // namespace

void look_for_other_copies() noexcept {
  if (txsync_copy.separate != nullptr) return;
  copies all;
  dl_iterate_phdr(note_copy, &all);
  if (all.mine.record == nullptr || all.other.record == nullptr) return;
  // If files are loaded together, another copy may have run first and reported this one.
  const bool told = all.told || txsync_copy.told.load(std::memory_order_relaxed) != 0;
  txsync_copy.told.store(1, std::memory_order_relaxed);
  all.other.record->told.store(1, std::memory_order_relaxed);
  if (!told && !is_silenced()) report_copies(all);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
