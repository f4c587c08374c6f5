// SPDX-License-Identifier: Apache-2.0
// What the sites of a simulated program counted, as records of its run: numbers by name, which `txsync sim` reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/observe/counters.hpp>

#include "observe/registry.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// The records are "sites.ID.MEMBER". Members are:
///   - those of each_site_number(); heeded_member (policy_parts);
///   - those of each_abort_group(), with the number of the cause behind them;
///   - name_group with the site's name behind it (1).
inline constexpr char sites_group[] = "sites.";
inline constexpr char name_group[] = "is.";
inline constexpr char heeded_member[] = "heeded";
/// Replaces a space in a site's name, because records are single words.
inline constexpr char space_in_name = 1;

/// Calls each(MEMBER, NUMBER).
template <class Totals, class Each>
constexpr void each_site_number(Totals& one, Each each) {
  each("acquisitions", one.acquisitions);
  each("unwatched", one.unwatched);
  each("contended", one.contended);
  each("wait_ns", one.wait_ns);
  each("max_wait_ns", one.max_wait_ns);
  each("failed_waits", one.failed_waits);
  each("failed_wait_ns", one.failed_wait_ns);
  each("commits", one.attempts.commits);
  each("elided", one.attempts.elided);
  each("failed", one.attempts.failed);
  each("lost_ns", one.attempts.lost_ns);
  each("lost_samples", one.attempts.lost_samples);
  each("lost_variance", one.attempts.lost_variance);
  each("software.commits", one.transactions.commits);
  each("software.alone", one.transactions.alone);
  each("software.waits", one.transactions.waits);
  each("path.noted", one.path.noted);
  each("path.algorithm", one.path.algorithm[0]);
  each("path.algorithm.rest", one.path.algorithm[1]);
  each("path.in_hardware", one.path.in_hardware);
  each("path.reason", one.path.reason);
  each("path.hardware_cycles", one.path.hardware_cycles);
  each("path.software_cycles", one.path.software_cycles);
}

/// Calls each(GROUP, ABORTS), where ABORTS is an array by cause.
template <class Totals, class Each>
constexpr void each_abort_group(Totals& one, Each each) {
  each("aborts.", one.attempts.aborts);
  each("software.aborts.", one.transactions.aborts);
}

/// Writes records by `record` for each site up to number 64 that counted something.
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
    append(sites_group);
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
    write(name_group, one.name != nullptr && *one.name != 0 ? one.name : "(all)", 1);
    write("", heeded_member, site_registry::heeded(one.id));
    each_site_number(one, [&](const char* member, std::uint64_t value) noexcept { write("", member, value); });
    each_abort_group(one, [&](const char* group, const std::uint64_t(&aborts)[abort_cause_count]) noexcept {
      for (std::size_t cause = 0; cause < abort_cause_count; ++cause) {
        if (aborts[cause] == 0) continue;
        length = beginning;
        append(group);
        append_number(cause);
        record(name, aborts[cause]);
      }
    });
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
