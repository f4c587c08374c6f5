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

constexpr unsigned most_noted = 128;  // entries of the log beyond have no calls
constinit noted_calls noted[most_noted] = {};
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

}  // namespace

void note_calls(thread_record& victim, const abort_reason& reason) noexcept {
  const std::uint32_t own_site = own_site_of(victim, reason);
  if (count == most_noted || exploring() || is_known(own_site, reason.other_site)) return;
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
}

}  // namespace txsync::sim
