// SPDX-License-Identifier: Apache-2.0
#include "failure.hpp"

#include <unistd.h>

#include "call_chain.hpp"
#include "exploration.hpp"
#include "own_exploration.hpp"
#include "program_steps.hpp"
#include "records.hpp"
#include "state.hpp"

extern "C" [[gnu::noinline]] void txsync_sim_failed() { asm volatile("" ::: "memory"); }

namespace txsync::sim {

namespace {

[[noreturn]] void end_with(line_text& line) noexcept {
  txsync_sim_failed();
  line << "\n";
  if (exploring()) {
    write_record(number_record::program, program_record::failed_seed, state.schedule_seed);
    write_exploration();
  }
  if (has_record_file()) {
    write_failure(line.text(), line.size());
  } else {
    line_text again;  // on its own: the first one may be as long as a line can be
    add_repetition(again);
    (void)!write(STDERR_FILENO, line.text(), line.size());
    (void)!write(STDERR_FILENO, again.text(), again.size());
  }
  _exit(failure_status);
}

}  // namespace

void fail(const char* what) noexcept {
  line_text line;
  line << what;
  fail(line);
}

void fail(const line_text& what) noexcept {
  line_text line;
  line << failure_prefix << what.text();
  const thread_record* thread = state.current;
  set_current(nullptr);  // what follows is not part of the simulation
  if (thread != nullptr) {
    line << " (simulated thread " << thread->id << " at " << thread->time / ticks_per_cycle << " cycles, ";
    const bool is_library = state.follows_program && is_library_code(thread->last_code);
    if (thread->last_code != 0 && !is_library) (line << "code at ").hexadecimal(thread->last_code) << ", ";
    line << "in ";
    add_call_chain(line);
    line << "; seed " << present_seed() << ")";
  }
  end_with(line);
}

}  // namespace txsync::sim
