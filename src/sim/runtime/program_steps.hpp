// SPDX-License-Identifier: Apache-2.0
// A program that is explored as a whole: which of its accesses are steps, where other threads may run first.
//
//  - An atomic access of the program's own code is a step if other threads use the memory, too, and one of them writes
//    it. A plain access is one if it is in a data race (races.hpp). Most such instructions are known from runs before
//    (learning); the others are steps from the moment on at which that shows.
//  - A call of the library is one step, at its first access or system call: it acquires, blocks or releases.
//  - A pause, and the end of main().
//
// In a learning run, each access of the program's own code is a step. Published explorers do likewise: they look for
// races first, and let threads change only at instructions that race (Thomson, Donaldson and Betts, TOPC 2016).
#pragma once

#include <cstddef>
#include <cstdint>

#include "fiber.hpp"
#include "races.hpp"
#include "state.hpp"

namespace txsync::sim {

/// From now on the program's steps are these. The codes that learning has found come from the file that the options
/// name, if they do.
void follow_program(bool learns, bool races_are_faults) noexcept;

/// The next of several schedules in this process begins. Nobody has used memory yet, and the instructions that schedules
/// have found since the last one that learns for the others are forgotten.
void begin_program_schedule(bool learns, bool learns_for_others) noexcept;
/// Afterwards nothing is left of what they have found.
void end_program_schedules() noexcept;

/// Whether an instruction is the library's, and not the program's own. Requires: follow_program().
bool is_library_code(std::uintptr_t code) noexcept;

/// Whether static data are the library's (or libc's), and not the program's own.
bool is_library_data(std::uintptr_t address) noexcept;

/// An access of the running thread: whether it is a step.
bool is_step_of_program(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write,
                        std::uintptr_t code, bool is_atomic) noexcept;
/// What a library function is about to do: the same for the call. `code` is in the function.
bool is_step_of_call(thread_record& thread, std::uintptr_t code) noexcept;
/// After its step: ends the run if the access is a fault of the program.
void find_faults(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write, std::uintptr_t code,
                 const atomic_access& how) noexcept;
/// What a library function reads or writes on behalf of the program, after its step: the same.
void touches_for_program(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write) noexcept;

/// An access or a call that is no step. It counts towards the limit of steps.
void pass_without_step() noexcept;

/// A function was entered, or is left: `code` is in it, and `caller` in the one that has called it.
void enter_function(std::uintptr_t caller, std::uintptr_t code) noexcept;
void leave_function(std::uintptr_t code) noexcept;

/// Accesses at these places race: they are steps from now on.
void mark_races(std::uintptr_t code, std::uintptr_t other) noexcept;

/// After a learning run: a record for each instruction that has accessed shared memory.
void write_shared_codes() noexcept;

}  // namespace txsync::sim
