// SPDX-License-Identifier: Apache-2.0
// What the sites of a simulated program counted, as records of its run: numbers by name, which `txsync sim` reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/observe/counters.hpp>

#include "observe/registry.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// Replaces a space in a site's name, because records are single words.
inline constexpr char space_in_name = 1;

/// Writes records "sites.ID.MEMBER" by `record` for each site up to number 64 that counted something. The members:
///   - contended, wait_ns, max_wait_ns, failed_waits, failed_wait_ns, heeded (policy_parts), acquisitions;
///   - commits, elided, failed, lost_ns, lost_samples, lost_variance, "aborts.NUMBER" by number of the cause;
///   - "software.commits", "software.alone", "software.waits", "software.aborts.NUMBER";
///   - "is.NAME" (1).
/// Requires: all threads that count have ended.
inline void record_attempts(void (*record)(const char* name, std::uint64_t value)) noexcept {
  constexpr std::uint32_t max_sites = 64;
  static site_totals totals[max_sites];
  const std::uint32_t known = snapshot(totals, max_sites);
  for (std::uint32_t i = 0; i < known && i < max_sites; ++i) {
    const site_totals& one = totals[i];
    const bool is_used = one.acquisitions != 0 || one.contended != 0 || one.failed_waits != 0;
    if (!is_used && one.attempts.attempts() == 0 && one.transactions.is_empty()) continue;
    // "sites.12.aborts.08": the parts one after the other, cut off at the end of the buffer.
    char name[160];
    std::size_t length = 0;
    const auto append = [&](const char* text) noexcept {
      while (*text != 0 && length + 1 < sizeof name) {
        name[length++] = *text == ' ' ? space_in_name : *text;
        ++text;
      }
      name[length] = 0;
    };
    append("sites.");
    const auto append_number = [&](std::size_t number) noexcept {
      const char digits[] = {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10), 0};
      append(digits);
    };
    append_number(one.id);
    append(".");
    const std::size_t beginning = length;
    const auto write = [&](const char* group, const char* member, std::uint64_t value) noexcept {
      length = beginning;
      append(group);
      append(member);
      record(name, value);
    };
    write("is.", one.name != nullptr && *one.name != 0 ? one.name : "(all)", 1);
    write("", "acquisitions", one.acquisitions);
    write("", "contended", one.contended);
    write("", "wait_ns", one.wait_ns);
    write("", "max_wait_ns", one.max_wait_ns);
    write("", "failed_waits", one.failed_waits);
    write("", "failed_wait_ns", one.failed_wait_ns);
    write("", "heeded", site_registry::heeded(one.id));
    write("", "commits", one.attempts.commits);
    write("", "elided", one.attempts.elided);
    write("", "failed", one.attempts.failed);
    write("", "lost_ns", one.attempts.lost_ns);
    write("", "lost_samples", one.attempts.lost_samples);
    write("", "lost_variance", one.attempts.lost_variance);
    write("software.", "commits", one.transactions.commits);
    write("software.", "alone", one.transactions.alone);
    write("software.", "waits", one.transactions.waits);
    const auto write_aborts = [&](const char* group, const std::uint64_t(&aborts)[abort_cause_count]) noexcept {
      for (std::size_t cause = 0; cause < abort_cause_count; ++cause) {
        if (aborts[cause] == 0) continue;
        length = beginning;
        append(group);
        append_number(cause);
        record(name, aborts[cause]);
      }
    };
    write_aborts("aborts.", one.attempts.aborts);
    write_aborts("software.aborts.", one.transactions.aborts);
  }
}

}  // namespace txsync::inline TXSYNC_BACKEND::observe
