// SPDX-License-Identifier: Apache-2.0
// Native releases. On x86-64 Linux a release is a restartable sequence (rseq, Linux 4.18). membarrier's rseq command
// (Linux 5.10), which membarrier_releases() issues, makes it safe against other CPUs. Everywhere else a release is a
// compare-exchange, and also under ThreadSanitizer, which does not see into assembly.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define TXSYNC_NATIVE_RSEQ 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TXSYNC_NATIVE_RSEQ 0
#endif
#endif
#if !defined(TXSYNC_NATIVE_RSEQ)
#if defined(__x86_64__) && defined(__linux__)
#define TXSYNC_NATIVE_RSEQ 1
#else
#define TXSYNC_NATIVE_RSEQ 0
#endif
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {

#if TXSYNC_NATIVE_RSEQ
/// The distance from the thread pointer to the rseq_cs field of this thread's rseq area; 0 while it is unknown or not
/// to be used. Set before main, and cleared if the system withdraws its support. Relaxed: it guards nothing, because
/// both ways of releasing are right at any time.
TXSYNC_EXPORT extern std::atomic<std::ptrdiff_t> rseq_field;
#endif

}  // namespace detail

inline bool release_unless_waited(lock_word& word, std::uint16_t value) noexcept {
#if TXSYNC_NATIVE_RSEQ
  const std::ptrdiff_t field = detail::rseq_field.load(std::memory_order_relaxed);
  if (field == 0) [[unlikely]]
    return detail::release_by_exchange(word, value);
  // Between labels 1 and 2, an interruption, or membarrier_releases() in another thread, sends this thread to label 4.
  // The last instruction is the store that gives the lock up. The descriptor's address is cleared at once, so that this
  // code may be unloaded.
  asm goto volatile(
      // "?": in the COMDAT group of the function, so that the linker drops both together if the function is emitted
      // twice.
      ".pushsection __rseq_cs, \"aw?\"\n\t"
      ".balign 32\n"
      "3:\t.long 0, 0\n\t"
      ".quad 1f, 2f - 1f, 4f\n\t"
      ".popsection\n\t"
      // An ELF section of its own. The compiler puts cold parts and landing pads of functions into .text.unlikely.
      // Bytes that are pushed there would stand in the middle of them.
      ".pushsection .text.unlikely.txsync_restart, \"ax?\"\n\t"
      ".byte 0x0f, 0xb9, 0x3d\n\t"  // an undefined instruction with the signature the kernel looks for
      ".long 0x53053053\n"
      "4:\tjmp %l[interrupted]\n\t"
      ".popsection\n\t"
      "leaq 3b(%%rip), %%rax\n\t"
      "movq %%rax, %%fs:(%[field])\n"
      "1:\tcmpl $0, 4(%[word])\n\t"
      "jg %l[interrupted]\n\t"
      "movw %w[value], (%[word])\n"
      "2:\tmovq $0, %%fs:(%[field])"
      :
      : [field] "r"(field), [word] "r"(&word), [value] "ri"(value)
      : "rax", "cc", "memory"
      : interrupted);
  return true;
interrupted:
  *reinterpret_cast<std::uint64_t*>(static_cast<char*>(__builtin_thread_pointer()) + field) = 0;
  return false;
#else
  return detail::release_by_exchange(word, value);
#endif
}

#if TXSYNC_NATIVE_RSEQ

inline bool take_if_free(lock_word& word) noexcept {
  std::uint8_t before = 1;
  // volatile and "memory": acquires, as an atomic instruction does
  asm volatile("xchgb %[before], %[word]" : [before] "+q"(before), [word] "+m"(word) : : "memory");
  return before == 0;
}

inline bool is_taken(const lock_word& word) noexcept {
  std::uint32_t taken;
  asm volatile("movzbl %[word], %[taken]" : [taken] "=r"(taken) : [word] "m"(word));
  return taken != 0;
}

inline std::uint32_t holders_byte(const lock_word& word) noexcept {
  std::uint32_t byte;
  asm volatile("movzbl 1(%[word]), %[byte]" : [byte] "=r"(byte) : [word] "r"(&word), "m"(word));
  return byte;
}

#else

inline bool take_if_free(lock_word& word) noexcept { return detail::take_whole_if_free(word); }

inline bool is_taken(const lock_word& word) noexcept { return detail::is_whole_taken(word); }

inline std::uint32_t holders_byte(const lock_word& word) noexcept { return detail::holders_byte_of_whole(word); }

#endif

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
