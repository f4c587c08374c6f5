// SPDX-License-Identifier: Apache-2.0
// The main program of the image that `txsync sim WORKLOAD` starts: one run of one workload on one lock.
//   WORKLOAD LOCK THREADS PLACE SOCKET DURATION_NS OPERATIONS RUN_IN_NS SEED SAMPLE_EVERY VALUE...
// The arguments are numbers, which the caller has checked. The results go into the records.
#include <txsync_backend/runtime.h>
#include <txsync/machine/environment.hpp>

#include "workloads/workload.hpp"

using namespace txsync;
using namespace txsync::workloads;

namespace {

constexpr int first_value = 11;
constexpr int wrong_use = 2;

std::uint64_t number(const char* text) noexcept {
  std::uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<std::uint64_t>(*text - '0');
  return value;
}

/// Faults are sentences, but records are numbers, so the sentence goes to the standard error.
extern "C" long write(int file, const void* text, unsigned long bytes);

void say(const char* text) noexcept {
  unsigned long length = 0;
  while (text[length] != 0) ++length;
  static_cast<void>(write(2, text, length) + write(2, "\n", 1));
}

plan plan_of(char** words) noexcept {
  plan how;
  how.threads = static_cast<unsigned>(number(words[3]));
  how.place = static_cast<machine::placement>(number(words[4]));
  how.socket = static_cast<unsigned>(number(words[5]));
  how.duration_ns = number(words[6]);
  how.operations = number(words[7]);
  how.run_in_ns = number(words[8]);
  how.seed = number(words[9]);
  how.sample_every = number(words[10]);
  return how;
}

void tell(const outcome& seen) noexcept {
  txsync_sim_record("operations", seen.operations);
  txsync_sim_record("elapsed_ns", seen.elapsed_ns);
  txsync_sim_record("fewest", seen.fewest);
  txsync_sim_record("most", seen.most);
  txsync_sim_record("data_hash", seen.end_hash);
}

}  // namespace

int main(int count, char** words) {
  const workload* which = count >= first_value ? find_workload(words[1]) : nullptr;
  const subject* lock = which != nullptr ? find_subject(words[2]) : nullptr;
  if (lock == nullptr) return wrong_use;
  parameters values = default_parameters(*which);
  for (int i = first_value; i < count && i - first_value < static_cast<int>(max_parameters); ++i) {
    values.values[i - first_value] = number(words[i]);
  }
  const subject::runner run = lock->runner_of(id_of(*which));
  if (run == nullptr) return wrong_use;
  machine::enter_phase(machine::phase::set_up);
  static const outcome seen = run(values, plan_of(words));
  tell(seen);
  if (seen.fault == nullptr) return 0;
  say(seen.fault);
  return 1;
}
