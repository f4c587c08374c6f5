// SPDX-License-Identifier: Apache-2.0
// The two ends of an attempt that can abort. One saves the registers that a function must preserve on the stack; the
// other restores the stack and the registers. They are in assembly, because a frame cannot rewrite itself, and because
// sanitizers, which would object, do not check assembly.
//
//   txsync_scripted_begin(kind, caller): calls txsync_scripted_decide(kind, frame, caller) and returns its answer
//   txsync_scripted_restore(frame, copy, bytes, status): copies the stack back and returns from begin with status
//
// `frame` is where begin saved the registers; its return address lies above them.
#if defined(__x86_64__)

asm(R"(
        .text
        .p2align 4
        .globl  txsync_scripted_begin
        .hidden txsync_scripted_begin
        .type   txsync_scripted_begin, @function
txsync_scripted_begin:
        endbr64
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        subq    $8, %rsp
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        movq    %rsi, %rdx
        movq    %rsp, %rsi
        call    txsync_scripted_decide
.Ltxsync_scripted_resume:
        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        addq    $8, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .size   txsync_scripted_begin, .-txsync_scripted_begin

        .p2align 4
        .globl  txsync_scripted_restore
        .hidden txsync_scripted_restore
        .type   txsync_scripted_restore, @function
txsync_scripted_restore:
        endbr64
        movq    %rdi, %rsp
        movl    %ecx, %eax
        movq    %rdx, %rcx
        cld
        rep movsb
        jmp     .Ltxsync_scripted_resume
        .size   txsync_scripted_restore, .-txsync_scripted_restore
)");

#elif defined(__aarch64__)

asm(R"(
        .text
        .p2align 4
        .globl  txsync_scripted_begin
        .hidden txsync_scripted_begin
        .type   txsync_scripted_begin, %function
txsync_scripted_begin:
        stp     x29, x30, [sp, #-160]!
        stp     x19, x20, [sp, #16]
        stp     x21, x22, [sp, #32]
        stp     x23, x24, [sp, #48]
        stp     x25, x26, [sp, #64]
        stp     x27, x28, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        mov     x2, x1
        mov     x1, sp
        bl      txsync_scripted_decide
.Ltxsync_scripted_resume:
        ldp     x19, x20, [sp, #16]
        ldp     x21, x22, [sp, #32]
        ldp     x23, x24, [sp, #48]
        ldp     x25, x26, [sp, #64]
        ldp     x27, x28, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        ldp     x29, x30, [sp], #160
        ret
        .size   txsync_scripted_begin, .-txsync_scripted_begin

        .p2align 4
        .globl  txsync_scripted_restore
        .hidden txsync_scripted_restore
        .type   txsync_scripted_restore, %function
txsync_scripted_restore:
        mov     sp, x0
        mov     x4, x0
        cbz     x2, 2f
1:      ldrb    w5, [x1], #1
        strb    w5, [x4], #1
        subs    x2, x2, #1
        b.ne    1b
2:      mov     w0, w3
        b       .Ltxsync_scripted_resume
        .size   txsync_scripted_restore, .-txsync_scripted_restore
)");

#else

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Elsewhere attempts start and end, but cannot abort.
extern "C" std::uint32_t txsync_scripted_decide(std::uint32_t kind, void* frame, void* caller) noexcept;

extern "C" [[gnu::visibility("hidden")]] std::uint32_t txsync_scripted_begin(std::uint32_t kind,
                                                                             void* caller) noexcept {
  return txsync_scripted_decide(kind, __builtin_frame_address(0), caller);
}

extern "C" [[noreturn, gnu::visibility("hidden")]] void txsync_scripted_restore(void*, const void*, std::size_t,
                                                                                std::uint32_t) noexcept {
  std::fprintf(stderr, "txsync, scripted machine: an attempt cannot come back to its begin on this architecture\n");
  std::abort();
}

#endif
