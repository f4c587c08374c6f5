// SPDX-License-Identifier: Apache-2.0
// What this machine offers, found by asking and by trying. `txsync doctor` prints it. The "machine" object of every
// result document is made from the same struct.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <txsync/machine/capability.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

/// Three-valued, because much cannot be found out.
enum class known : std::uint8_t { no, yes, unknown };

/// "yes", "no" or "unknown".
constexpr const char* to_string(known answer) noexcept {
  return answer == known::yes ? "yes" : answer == known::no ? "no" : "unknown";
}

/// The bits of CPUID that concern transactions (Intel SDM vol. 2, CPUID leaf 7; leaf 1 for the hypervisor bit).
struct cpuid_bits {
  bool readable = false;  ///< false: there is no CPUID (not x86), and the other members mean nothing
  bool rtm = false;
  bool hle = false;
  bool rtm_always_abort = false;  ///< the microcode makes every XBEGIN abort
  bool tsx_force_abort = false;   ///< the CPU has the switch that trades RTM for a performance counter
  bool tsxldtrk = false;          ///< load tracking may be suspended (Sapphire Rapids and later)
  bool hypervisor = false;        ///< a virtual machine
};

struct processor {
  std::string architecture;  ///< "x86-64", "aarch64", "ppc64le", "s390x"
  std::string vendor;        ///< "GenuineIntel"; like all texts here, empty if unknown
  std::string model_name;
  unsigned family = 0;  ///< x86: includes the extended parts; 0 elsewhere
  unsigned model = 0;
  unsigned stepping = 0;
  std::string microcode;   ///< as the kernel prints it, "0x1"
  std::string hypervisor;  ///< its signature, "KVMKVMKVM"; empty on bare metal
  cpuid_bits cpuid;
};

struct operating_system {
  std::string kernel;                 ///< "Linux 6.12.8"
  std::string tsx_option;             ///< value of `tsx=` on the kernel's command line; empty if it is not there
  std::string taa;                    ///< what the kernel says about TSX asynchronous abort; empty if nothing
  known disabled_tsx;                 ///< the kernel says that it switched TSX off
  std::string libc;                   ///< "glibc 2.36"
  known libc_has_elision;             ///< the libc has lock elision of its own (glibc 2.18 to 2.42)
  bool restartable_releases = false;  ///< rseq and membarrier's rseq command exist and are used
};

struct cache {
  unsigned level = 0;
  std::string type;  ///< "Data", "Instruction", "Unified"
  std::uint64_t bytes = 0;
  unsigned line_bytes = 0;
  unsigned ways = 0;
  unsigned shared_by = 0;  ///< how many hardware threads share it
};

/// The topology of the online CPUs. A count is 0 if the system does not report it.
struct topology {
  unsigned sockets = 0;
  unsigned cores = 0;
  unsigned hardware_threads = 0;
  unsigned allowed = 0;     ///< hardware threads that this process may run on
  unsigned line_bytes = 0;  ///< of the first data cache
  std::uint64_t page_bytes = 0;
  std::vector<cache> caches;  ///< those of the first online CPU, innermost first

  /// More than one hardware thread per core.
  bool smt() const noexcept { return cores != 0 && hardware_threads > cores; }
};

enum class verdict_kind : std::uint8_t {
  works,
  killed_by_environment,   ///< TXSYNC_HTM=off
  no_instructions,         ///< an architecture without hardware transactions
  no_claim,                ///< x86: no RTM in CPUID, and XBEGIN is illegal or was not tried; elsewhere: not in hwcap
  always_aborts,           ///< XBEGIN exists and always aborts
  switched_off_microcode,  ///< RTM_ALWAYS_ABORT
  disabled_by_kernel,      ///< by tsx=off, or the kernel says so
  hidden_by_hypervisor     ///< XBEGIN commits, although CPUID hides it
};

/// The word in documents: "works", "killed-by-environment", ...
const char* to_string(verdict_kind kind) noexcept;

/// One sentence each; empty if there is nothing to say.
struct verdict {
  verdict_kind kind = verdict_kind::no_instructions;
  std::string what;    ///< what is on or off
  std::string why;     ///< the evidence
  std::string remedy;  ///< what would switch it on
  std::string risk;    ///< what switching it on costs
};

struct machine_report {
  std::string backend;  ///< "native", "scripted", "simulated"
  processor cpu;
  operating_system system;
  doctor::topology topology;
  machine::htm_trial trial;
  machine::unclaimed_trial unclaimed;  ///< tries == 0 unless CPUID claims nothing
  doctor::verdict verdict;
};

/// What the report's facts mean. A pure function: the same facts give the same sentences.
doctor::verdict judge(const machine_report& facts);

/// Asks and tries; takes some milliseconds. `probe_unclaimed`: also tries XBEGIN if CPUID has no RTM (see
/// try_unclaimed_htm()). `txsync doctor` does this; benchmarks need not.
machine_report collect(bool probe_unclaimed = false);

/// Prints the report for people, in about 30 lines.
void print(const machine_report& report, std::FILE* out);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
