// SPDX-License-Identifier: Apache-2.0
// A guarded body is left by a jump over its frames. Either the body itself jumps, or the part of the back end that
// handles faults (machine/posix/fault.cpp, the simulated machine's runtime).
#include "guarded.hpp"

#include <txsync/machine/assert.hpp>
#include <txsync/machine/guarded.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {
constexpr int left_by_itself = detail::landed_by_fault + 1;
constinit thread_local std::jmp_buf* my_jump_target = nullptr;
}  // namespace

bool is_guarded() noexcept { return my_jump_target != nullptr; }

void leave_guarded() noexcept {
  TXSYNC_ASSERT(is_guarded(), "the calling thread runs a guarded body");
  std::longjmp(*my_jump_target,
               left_by_itself);  // NOLINT(cert-err52-cpp): an exception would run what has to be left out
}

guarded_end run_guarded(void (*body)(void* data), void* data) noexcept {
  std::jmp_buf* const around = my_jump_target;
  std::jmp_buf target;
  const int how = setjmp(target);  // NOLINT(cert-err52-cpp): as above
  if (how == 0) {
    my_jump_target = &target;
    detail::catch_faults(&target);
    body(data);
  }
  detail::catch_faults(around);
  my_jump_target = around;
  if (how == 0) return guarded_end::returned;
  return how == left_by_itself ? guarded_end::left : guarded_end::fault;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine
