// SPDX-License-Identifier: Apache-2.0
// The commit oracle: checks the simulation itself, in test builds of programs and in exploration. It keeps an image of
// the program's memory that only hooks update, and what each attempt has read.
//  - A byte that differs from the image was written without a hook.
//  - At a commit, every byte that the attempt has read is as at its first read, or was written by the attempt.
//  - After an abort, every byte that the attempt has read or written is as before.
//  - No byte that an attempt has written is read or written by others before the attempt has ended.
// It sees neither unhooked reads (the audit of objects does) nor the stacks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fiber.hpp"

namespace txsync::sim {

void set_up_oracle() noexcept;
void oracle_begin(thread_record& thread) noexcept;
void oracle_read(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept;
void oracle_write(thread_record& thread, std::uintptr_t address, std::size_t bytes) noexcept;
void oracle_before_commit(thread_record& thread) noexcept;
void oracle_after_abort(thread_record& thread) noexcept;
/// A hook begins: the writes that earlier hooks announced are done by now.
void oracle_settle() noexcept;
/// The memory no longer belongs to the program, or is newly allocated (heap): its content is not known.
void oracle_forget(std::uintptr_t address, std::size_t bytes) noexcept;

}  // namespace txsync::sim
