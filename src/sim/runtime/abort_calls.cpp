// SPDX-License-Identifier: Apache-2.0
#include "abort_calls.hpp"

#include "abort_log.hpp"
#include "call_chain.hpp"
#include "records.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

constexpr unsigned max_noted = 128;  // further entries of the log have no calls
constinit calls_record noted[max_noted] = {};
constinit unsigned count = 0;

bool is_known(std::uint32_t own_code, std::uint32_t other_code) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    if (noted[i].own_code == own_code && noted[i].other_code == other_code) return true;
  }
  return false;
}

// A walk takes some ten microseconds of the host, and there may be a million aborts.
constexpr std::uint64_t all_sampled = 256;  // aborts at the beginning of a run
constexpr std::uint64_t sampled_every = 64;

constexpr unsigned max_ends = 512;  // others are not counted
constinit abort_end ends[max_ends] = {};
constinit unsigned end_count = 0;
constinit std::uint64_t seen_aborts = 0;

void add_end(std::uintptr_t code, std::uintptr_t caller, std::uint64_t weight) noexcept {
  for (unsigned i = 0; i < end_count; ++i) {
    if (ends[i].code != code || ends[i].caller != caller) continue;
    ends[i].count += weight;
    return;
  }
  if (end_count < max_ends) ends[end_count++] = {code, caller, weight};
}

void sample_end(thread_record& victim) noexcept {
  if (exploring() || !counts_attempts()) return;
  ++seen_aborts;
  const bool is_early = seen_aborts <= all_sampled;
  if (!is_early && seen_aborts % sampled_every != 0) return;
  const call_chain chain = calls_of(victim);
  if (chain.count == 0) return;
  add_end(chain.codes[0], chain.count > 1 ? chain.codes[1] : 0, is_early ? 1 : sampled_every);
}

}  // namespace

void begin_to_sample_ends() noexcept {
  end_count = 0;
  seen_aborts = 0;
}

void note_calls(thread_record& victim, const abort_reason& reason) noexcept {
  sample_end(victim);
  const std::uint32_t own_code = own_code_of(victim, reason);
  if (count == max_noted || exploring() || is_known(own_code, reason.other_code)) return;
  calls_record& made = noted[count++];
  made.own_code = own_code;
  made.other_code = reason.other_code;
  made.own = calls_of(victim);
  if (&victim != state.current) made.other = calls_of_caller();
}

void write_abort_calls() noexcept {
  for (unsigned i = 0; i < count; ++i) write_record(noted[i]);
  for (unsigned i = 0; i < end_count; ++i) write_record(ends[i]);
}

}  // namespace txsync::sim
