// SPDX-License-Identifier: Apache-2.0
// Records of what threads do, step by step: for `txsync replay`.
#pragma once

#include "../protocol.hpp"
#include "fiber.hpp"

namespace txsync::sim {

/// What the thread does at an address (0: none).
void trace(const thread_record& thread, std::uintptr_t code, step_kind what, std::uintptr_t address) noexcept;
/// An access that the thread is about to make. Of up to 8 bytes, the values come with it: what is read, or what is there
/// before and after the write. The second value is looked up when the next step comes.
void trace_access(const thread_record& thread, std::uintptr_t code, byte_range accessed, bool write) noexcept;
/// The program has ended, and not by a crash.
void end_trace() noexcept;

}  // namespace txsync::sim
