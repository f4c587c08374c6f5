// SPDX-License-Identifier: Apache-2.0
// From facts to sentences: what is off, why, how to switch it on, and what that costs.
#include "report.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

namespace {

using machine::htm_claim;
using machine::htm_obstacle;

const std::string taa_risk =
    "On CPUs with TSX asynchronous abort (CVE-2019-11135), transactions let one program read another's data from the "
    "CPU's buffers. The kernel clears these buffers, but not for sibling hardware threads.";
const std::string kernel_remedy =
    "boot with tsx=on on the kernel's command line, or with tsx=auto (default since Linux 7.0; on only without TSX "
    "asynchronous abort)";
const std::string guest_remedy =
    "on the host, " + kernel_remedy + ". Then give the guest a CPU model with RTM (for example host passthrough).";

std::string share(unsigned part, unsigned all) { return std::to_string(part) + " of " + std::to_string(all); }

bool in_virtual_machine(const machine_report& facts) { return facts.cpu.cpuid.hypervisor; }

std::string hypervisor_name(const machine_report& facts) {
  return facts.cpu.hypervisor.empty() ? "the hypervisor" : "the hypervisor (" + facts.cpu.hypervisor + ")";
}

/// What the XBEGIN that CPUID did not claim did, as a clause; empty if it was not tried.
std::string unclaimed_evidence(const machine::unclaimed_trial& unclaimed) {
  if (unclaimed.tries == 0) return {};
  if (unclaimed.illegal) return "XBEGIN is an illegal instruction here";
  if (unclaimed.commits != 0) return "XBEGIN committed " + share(unclaimed.commits, unclaimed.tries) + " times";
  return "XBEGIN always aborts (" + share(unclaimed.tries, unclaimed.tries) + " tries, " +
         std::to_string(unclaimed.without_reason) + " of them with status 0)";
}

verdict works(const machine_report& facts) {
  verdict v{.kind = verdict_kind::works, .what = {}, .why = {}, .remedy = {}, .risk = {}};
  v.what = "Hardware transactions work: " + share(facts.trial.commits, facts.trial.tries) +
           " one-store attempts committed, nested " + std::to_string(facts.trial.capability.max_depth) + " deep.";
  const bool affected = !facts.system.taa.empty() && facts.system.taa != "Not affected";
  if (affected) v.risk = "This CPU has TSX asynchronous abort; the kernel says: " + facts.system.taa + ".";
  return v;
}

verdict killed() {
  return {.kind = verdict_kind::killed_by_environment,
          .what = "Hardware transactions are switched off for this program by TXSYNC_HTM=off.",
          .why = "The environment variable is set; nothing was tried.",
          .remedy = "Unset TXSYNC_HTM.",
          .risk = {}};
}

verdict no_instructions(const machine_report& facts) {
  return {
      .kind = verdict_kind::no_instructions,
      .what = "This architecture (" + facts.cpu.architecture + ") has no hardware transactions that txsync can use.",
      .why = facts.cpu.architecture == "aarch64" ? "Arm withdrew its Transactional Memory Extension." : "",
      .remedy = "None; txsync uses its software paths.",
      .risk = {}};
}

verdict microcode(const machine_report&) {
  return {.kind = verdict_kind::switched_off_microcode,
          .what = "Hardware transactions are switched off by the CPU's microcode: every XBEGIN always aborts.",
          .why = "CPUID has RTM_ALWAYS_ABORT.",
          .remedy = "None that is safe: an older microcode, or a CPU that does not need this update.",
          .risk = "An older microcode brings back the errors and the leaks that the update closes."};
}

verdict disabled_by_kernel(const machine_report& facts) {
  verdict v{.kind = verdict_kind::disabled_by_kernel, .what = {}, .why = {}, .remedy = {}, .risk = taa_risk};
  const bool option = facts.system.tsx_option == "off";
  v.what = option ? "Hardware transactions are disabled by the kernel: tsx=off is on its command line."
                  : "Hardware transactions are disabled by the kernel: it says \"" + facts.system.taa + "\".";
  const std::string evidence = unclaimed_evidence(facts.unclaimed);
  v.why = "There is no RTM in CPUID" + (evidence.empty() ? std::string{} : ", and " + evidence) + ".";
  v.remedy =
      option ? "Take tsx=off away; " + kernel_remedy + "." : "To have them in spite of that, " + kernel_remedy + ".";
  return v;
}

verdict always_aborts_though_claimed(const machine_report& facts) {
  verdict v{.kind = verdict_kind::always_aborts, .what = {}, .why = {}, .remedy = {}, .risk = taa_risk};
  v.what = "The CPU's XBEGIN always aborts: " + share(facts.trial.commits, facts.trial.tries) +
           " one-store attempts committed, " + std::to_string(facts.trial.without_reason) + " aborted with status 0.";
  v.why = "CPUID offers RTM and has no RTM_ALWAYS_ABORT, so something below the claim has switched it off" +
          (in_virtual_machine(facts) ? ": " + hypervisor_name(facts) + " or the host's kernel." : std::string("."));
  v.remedy =
      in_virtual_machine(facts) ? "If you can: " + guest_remedy : "If the firmware allows it, " + kernel_remedy + ".";
  return v;
}

verdict always_aborts_unclaimed(const machine_report& facts) {
  verdict v{.kind = verdict_kind::always_aborts, .what = {}, .why = {}, .remedy = {}, .risk = taa_risk};
  v.what = "The CPU's XBEGIN always aborts: " + share(facts.unclaimed.tries, facts.unclaimed.tries) +
           " tries aborted, " + std::to_string(facts.unclaimed.without_reason) + " of them with status 0.";
  v.why = "There is no RTM in CPUID, but the instruction is there: transactions are switched off, not missing, by ";
  v.why += in_virtual_machine(facts) ? "the host's kernel or " + hypervisor_name(facts) + "."
                                     : "the firmware or this kernel, whose default before Linux 7.0 is tsx=off.";
  v.remedy = in_virtual_machine(facts) ? "If you can: " + guest_remedy : "If you can, " + kernel_remedy + ".";
  return v;
}

verdict hidden(const machine_report& facts) {
  verdict v{.kind = verdict_kind::hidden_by_hypervisor, .what = {}, .why = {}, .remedy = {}, .risk = taa_risk};
  v.what = "The CPU's transactions work but are hidden: " + unclaimed_evidence(facts.unclaimed) +
           ", yet there is no RTM in CPUID.";
  v.why = in_virtual_machine(facts) ? "This is a virtual machine; " + hypervisor_name(facts) + " masks the bit."
                                    : "Something between the CPU and this program masks the bit; record-and-replay "
                                      "debuggers do.";
  v.remedy = in_virtual_machine(facts) ? "Give the guest a CPU model with RTM (for example host passthrough)."
                                       : "Run without the debugger.";
  v.why += " txsync keeps to CPUID and does not use them.";
  return v;
}

verdict no_claim(const machine_report& facts) {
  verdict v{.kind = verdict_kind::no_claim, .what = {}, .why = {}, .remedy = {}, .risk = {}};
  if (!facts.cpu.cpuid.readable) {
    v.what = "The kernel does not offer hardware transactions on this CPU (hwcap).";
    v.why = "They are in POWER8 and POWER9 and in IBM Z from zEC12 to z16, where firmware and kernel leave them on.";
    v.remedy = "None; txsync uses its software paths.";
    return v;
  }
  const std::string evidence = unclaimed_evidence(facts.unclaimed);
  v.what = "There is no RTM in CPUID.";
  v.why = evidence.empty() ? "XBEGIN itself was not tried; `txsync doctor` does." : evidence + ": this CPU has none.";
  if (evidence.empty() && in_virtual_machine(facts))
    v.why += " In a virtual machine CPUID shows what the host lets through.";
  v.remedy = "None on this CPU; txsync uses its software paths.";
  if (evidence.empty()) v.remedy = "Ask `txsync doctor`.";
  return v;
}

verdict judge_unclaimed(const machine_report& facts) {
  if (facts.unclaimed.illegal) return no_claim(facts);
  if (facts.unclaimed.commits != 0) return hidden(facts);
  if (facts.system.disabled_tsx == known::yes) return disabled_by_kernel(facts);
  if (facts.unclaimed.tries != 0) return always_aborts_unclaimed(facts);
  return no_claim(facts);
}

}  // namespace

const char* to_string(verdict_kind kind) noexcept {
  switch (kind) {
    case verdict_kind::works:
      return "works";
    case verdict_kind::killed_by_environment:
      return "killed-by-environment";
    case verdict_kind::no_instructions:
      return "no-instructions";
    case verdict_kind::no_claim:
      return "no-claim";
    case verdict_kind::always_aborts:
      return "always-aborts";
    case verdict_kind::switched_off_microcode:
      return "switched-off-microcode";
    case verdict_kind::disabled_by_kernel:
      return "disabled-by-kernel";
    case verdict_kind::hidden_by_hypervisor:
      return "hidden-by-hypervisor";
  }
  return "unknown";
}

verdict judge(const machine_report& facts) {
  switch (facts.trial.obstacle) {
    case htm_obstacle::none:
      return works(facts);
    case htm_obstacle::kill_switch:
      return killed();
    case htm_obstacle::no_instructions:
      return no_instructions(facts);
    case htm_obstacle::forced_abort:
      return microcode(facts);
    case htm_obstacle::never_commits:
      return always_aborts_though_claimed(facts);
    case htm_obstacle::not_claimed:
      break;
  }
  return judge_unclaimed(facts);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
