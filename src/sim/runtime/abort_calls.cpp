// SPDX-License-Identifier: Apache-2.0
#include "abort_calls.hpp"

#include "abort_log.hpp"
#include "call_chain.hpp"
#include "records.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

struct noted_calls {
  std::uint32_t own_site;
  std::uint32_t other_site;
  call_chain own;
  call_chain other;
};

constexpr unsigned max_noted = 128;  // further entries of the log have no calls
constinit noted_calls noted[max_noted] = {};
constinit unsigned count = 0;

bool is_known(std::uint32_t own_site, std::uint32_t other_site) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    if (noted[i].own_site == own_site && noted[i].other_site == other_site) return true;
  }
  return false;
}

void put_chain(line_text& line, const call_chain& chain) noexcept {
  line << " " << chain.count;
  for (unsigned i = 0; i < chain.count; ++i) (line << " ").hexadecimal(chain.codes[i]);
}

// A walk takes some ten microseconds of the host, and there may be a million aborts.
constexpr std::uint64_t all_sampled = 256;  // aborts at the beginning of a run
constexpr std::uint64_t sampled_every = 64;

struct sampled_end {
  std::uintptr_t code;
  std::uintptr_t caller;
  std::uint64_t aborts;
};
constexpr unsigned max_ends = 512;  // others are not counted
constinit sampled_end ends[max_ends] = {};
constinit unsigned end_count = 0;
constinit std::uint64_t seen_aborts = 0;

void add_end(std::uintptr_t code, std::uintptr_t caller, std::uint64_t weight) noexcept {
  for (unsigned i = 0; i < end_count; ++i) {
    if (ends[i].code != code || ends[i].caller != caller) continue;
    ends[i].aborts += weight;
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
  const std::uint32_t own_site = own_site_of(victim, reason);
  if (count == max_noted || exploring() || is_known(own_site, reason.other_site)) return;
  noted_calls& made = noted[count++];
  made.own_site = own_site;
  made.other_site = reason.other_site;
  made.own = calls_of(victim);
  if (&victim != state.current) made.other = calls_of_caller();
}

void write_abort_calls() noexcept {
  for (unsigned i = 0; i < count; ++i) {
    line_text line;
    line << "calls ";
    (line.hexadecimal(noted[i].own_site) << " ").hexadecimal(noted[i].other_site);
    put_chain(line, noted[i].own);
    put_chain(line, noted[i].other);
    write_record(line << "\n");
  }
  for (unsigned i = 0; i < end_count; ++i) {
    line_text line;
    line << "ended ";
    (line.hexadecimal(ends[i].code) << " ").hexadecimal(ends[i].caller) << " " << ends[i].aborts << "\n";
    write_record(line);
  }
}

}  // namespace txsync::sim
