// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/cpu.hpp>

#include "report.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

namespace {

constexpr int label_width = 12;

void row(std::FILE* out, const char* label, const std::string& text) {
  std::fprintf(out, "%-*s %s\n", label_width, label, text.empty() ? "unknown" : text.c_str());
}

const char* yes_or_no(bool answer) { return answer ? "yes" : "no"; }

std::string counted(unsigned count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t unit = 1024;
  if (bytes >= unit * unit && bytes % (unit * unit) == 0) return std::to_string(bytes / unit / unit) + " MiB";
  if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + " KiB";
  return std::to_string(bytes) + " B";
}

void print_processor(const processor& cpu, std::FILE* out) {
  row(out, "CPU", cpu.model_name.empty() ? cpu.vendor : cpu.model_name);
  if (cpu.cpuid.readable) {
    row(out, "",
        cpu.vendor + " family " + std::to_string(cpu.family) + " model " + std::to_string(cpu.model) + " stepping " +
            std::to_string(cpu.stepping) + ", microcode " + (cpu.microcode.empty() ? "unknown" : cpu.microcode));
    row(out, "hypervisor", !cpu.cpuid.hypervisor ? "none" : cpu.hypervisor.empty() ? "yes, unnamed" : cpu.hypervisor);
  }
}

void print_topology(const topology& found, std::FILE* out) {
  row(out, "topology",
      counted(found.sockets, "socket") + ", " + counted(found.cores, "core") + ", " +
          counted(found.hardware_threads, "hardware thread") + " (" + std::to_string(found.allowed) + " allowed), " +
          (found.smt() ? "SMT" : "no SMT"));
  for (const cache& one : found.caches) {
    const std::string name = "L" + std::to_string(one.level) + " " + one.type;
    row(out, "cache",
        name + ", " + bytes_text(one.bytes) + ", " + std::to_string(one.ways) + " ways, shared by " +
            counted(one.shared_by, "hardware thread"));
  }
  row(out, "line, page",
      bytes_text(found.line_bytes) + " (padded to " + bytes_text(machine::pad_bytes) + "), " +
          bytes_text(found.page_bytes));
}

void print_system(const operating_system& system, std::FILE* out) {
  row(out, "kernel",
      system.kernel + ", " + (system.tsx_option.empty() ? "no tsx= on its command line" : "tsx=" + system.tsx_option));
  row(out, "TAA", system.taa.empty() ? "the kernel does not say" : system.taa);
  std::string libc = system.libc;
  if (system.libc_has_elision == known::yes) libc += ", has lock elision of its own (removed in 2.43)";
  if (system.libc_has_elision == known::no) libc += ", has no lock elision";
  row(out, "libc", libc);
  row(out, "releases",
      system.restartable_releases ? "without an atomic instruction (rseq, membarrier)"
                                  : "by compare-exchange (no rseq or membarrier, or not used)");
}

void print_attempts(const machine_report& report, std::FILE* out) {
  const cpuid_bits& bits = report.cpu.cpuid;
  if (bits.readable) {
    row(out, "CPUID",
        std::string("RTM ") + yes_or_no(bits.rtm) + ", HLE " + yes_or_no(bits.hle) + ", RTM_ALWAYS_ABORT " +
            yes_or_no(bits.rtm_always_abort) + ", TSX_FORCE_ABORT " + yes_or_no(bits.tsx_force_abort) + ", TSXLDTRK " +
            yes_or_no(bits.tsxldtrk));
  }
  const machine::unclaimed_trial& unclaimed = report.unclaimed;
  if (unclaimed.tries != 0) {
    row(out, "XBEGIN",
        unclaimed.illegal ? "an illegal instruction"
                          : "unclaimed, yet executes: " + std::to_string(unclaimed.commits) + " of " +
                                std::to_string(unclaimed.tries) + " tries committed");
  }
  const machine::htm_trial& trial = report.trial;
  if (trial.tries == 0) {
    row(out, "attempts", "not tried");
    return;
  }
  row(out, "attempts",
      std::to_string(trial.commits) + " of " + std::to_string(trial.tries) + " one-store attempts committed, " +
          std::to_string(trial.without_reason) + " aborted without a reason");
  const machine::htm_capability& can = trial.capability;
  row(out, "",
      "nesting " + std::to_string(can.max_depth) + ", HLE " + yes_or_no(can.hle) + ", always-abort " +
          yes_or_no(can.always_abort) + ", suspend " + yes_or_no(can.suspend) + ", rollback-only " +
          yes_or_no(can.rollback_only));
}

void print_verdict(const verdict& found, std::FILE* out) {
  std::fprintf(out, "\n");
  row(out, "verdict", to_string(found.kind));
  row(out, "", found.what);
  if (!found.why.empty()) row(out, "why", found.why);
  if (!found.remedy.empty()) row(out, "remedy", found.remedy);
  if (!found.risk.empty()) row(out, "risk", found.risk);
}

}  // namespace

void print(const machine_report& report, std::FILE* out) {
  row(out, "machine", report.backend + ", " + report.cpu.architecture);
  print_processor(report.cpu, out);
  print_topology(report.topology, out);
  print_system(report.system, out);
  print_attempts(report, out);
  print_verdict(report.verdict, out);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
