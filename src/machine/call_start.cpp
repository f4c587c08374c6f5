// SPDX-License-Identifier: Apache-2.0
// A call records the stack pointer, and the registers that functions preserve. Then it jumps to the function, which
// thus returns to the caller of the call. To begin anew restores all of that, and jumps to another function.
//
// It is assembly in a source of its own, and no C++ function with the attribute naked. GCC takes such a function for one
// that never throws, and an exception that passes it then ends the program. Here no frame of the assembly has to be
// unwound. While the function runs, its caller is the caller of the call, and the return address is where it was.
#include "call_start.hpp"

#if TXSYNC_RECORDED_CALLS && defined(__x86_64__)

#if defined(__CET__) && (__CET__ & 2)
// The shadow stack's pointer reads as 0 where the processor or the system has none. To begin anew pops the entries of the
// frames that it leaves, at most 255 at a time.
#define TXSYNC_RECORD_SHADOW_STACK \
  " xorl %eax, %eax\n"             \
  " rdsspq %rax\n"                 \
  " movq %rax, 56(%rdi)\n"
#define TXSYNC_RESTORE_SHADOW_STACK \
  " xorl %eax, %eax\n"              \
  " rdsspq %rax\n"                  \
  " testq %rax, %rax\n"             \
  " jz 2f\n"                        \
  " movq 56(%rdi), %rcx\n"          \
  " subq %rax, %rcx\n"              \
  " shrq $3, %rcx\n"                \
  " movl $255, %r8d\n"              \
  "1: cmpq %r8, %rcx\n"             \
  " cmovb %rcx, %r8\n"              \
  " incsspq %r8\n"                  \
  " subq %r8, %rcx\n"               \
  " jnz 1b\n"                       \
  "2:\n"
#else
#define TXSYNC_RECORD_SHADOW_STACK
#define TXSYNC_RESTORE_SHADOW_STACK
#endif

// Weak, since each back end has the same. Called and jumped to by name only, so no endbr64 is needed.
asm(R"(
        .text
        .p2align 4
        .weak   txsync_call_from
        .hidden txsync_call_from
        .type   txsync_call_from, @function
txsync_call_from:
        .cfi_startproc
)" TXSYNC_RECORD_SHADOW_STACK R"(
        movq    %rsp, (%rdi)
        movq    %rbx, 8(%rdi)
        movq    %rbp, 16(%rdi)
        movq    %r12, 24(%rdi)
        movq    %r13, 32(%rdi)
        movq    %r14, 40(%rdi)
        movq    %r15, 48(%rdi)
        movq    %rdx, %rdi
        jmp     *%rsi
        .cfi_endproc
        .size   txsync_call_from, .-txsync_call_from

        .p2align 4
        .weak   txsync_begin_anew
        .hidden txsync_begin_anew
        .type   txsync_begin_anew, @function
txsync_begin_anew:
        .cfi_startproc
)" TXSYNC_RESTORE_SHADOW_STACK R"(
        movq    8(%rdi), %rbx
        movq    16(%rdi), %rbp
        movq    24(%rdi), %r12
        movq    32(%rdi), %r13
        movq    40(%rdi), %r14
        movq    48(%rdi), %r15
        movq    (%rdi), %rsp
        movq    %rdx, %rdi
        jmp     *%rsi
        .cfi_endproc
        .size   txsync_begin_anew, .-txsync_begin_anew
)");

#elif TXSYNC_RECORDED_CALLS && defined(__aarch64__)

// The jumps go by x16, from which a function may be entered that begins with `bti c` or `paciasp`. `hint #34` is `bti c`,
// for jumps that the linker lengthens.
asm(R"(
        .text
        .p2align 4
        .weak   txsync_call_from
        .hidden txsync_call_from
        .type   txsync_call_from, %function
txsync_call_from:
        .cfi_startproc
        hint    #34
        mov     x9, sp
        mov     x16, x1
        stp     x9, x30, [x0]
        stp     x19, x20, [x0, #16]
        stp     x21, x22, [x0, #32]
        stp     x23, x24, [x0, #48]
        stp     x25, x26, [x0, #64]
        stp     x27, x28, [x0, #80]
        str     x29, [x0, #96]
        stp     d8, d9, [x0, #104]
        stp     d10, d11, [x0, #120]
        stp     d12, d13, [x0, #136]
        stp     d14, d15, [x0, #152]
        mov     x0, x2
        br      x16
        .cfi_endproc
        .size   txsync_call_from, .-txsync_call_from

        .p2align 4
        .weak   txsync_begin_anew
        .hidden txsync_begin_anew
        .type   txsync_begin_anew, %function
txsync_begin_anew:
        .cfi_startproc
        hint    #34
        ldp     x9, x30, [x0]
        mov     x16, x1
        ldp     x19, x20, [x0, #16]
        ldp     x21, x22, [x0, #32]
        ldp     x23, x24, [x0, #48]
        ldp     x25, x26, [x0, #64]
        ldp     x27, x28, [x0, #80]
        ldr     x29, [x0, #96]
        ldp     d8, d9, [x0, #104]
        ldp     d10, d11, [x0, #120]
        ldp     d12, d13, [x0, #136]
        ldp     d14, d15, [x0, #152]
        mov     sp, x9
        mov     x0, x2
        br      x16
        .cfi_endproc
        .size   txsync_begin_anew, .-txsync_begin_anew
)");

#endif

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

void call_by_jump(call_start& start, started_function function, void* argument) {
  start.function = function;
  start.argument = argument;
  // NOLINTNEXTLINE(cert-err52-cpp): an exception takes a microsecond, and could be caught on the way
  static_cast<void>(setjmp(start.jump));
  start.function(start.argument);
}

void begin_anew_by_jump(call_start& start, started_function function, void* argument) noexcept {
  start.function = function;
  start.argument = argument;
  std::longjmp(start.jump, 1);  // NOLINT(cert-err52-cpp): as above
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
