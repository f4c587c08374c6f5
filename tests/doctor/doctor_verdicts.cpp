// SPDX-License-Identifier: Apache-2.0
// Every verdict of the doctor, word for word, on scripted machines. Issue A1-6.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctor/report.hpp>
#include <machine/scripted/script.hpp>

namespace {

namespace doctor = txsync::doctor;
namespace machine = txsync::machine;
using doctor::verdict_kind;
using txsync::script::begin_nature;
using txsync::script::machine_script;

constexpr std::uint32_t rtm = 1u << 11;           // CPUID.7.0:EBX
constexpr std::uint32_t always_abort = 1u << 11;  // CPUID.7.0:EDX
constexpr const char* taa_file = "/sys/devices/system/cpu/vulnerabilities/tsx_async_abort";

/// What print() writes, from the verdict on.
std::string verdict_text(const doctor::machine_report& report) {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const out = open_memstream(&text, &length);
  doctor::print(report, out);
  std::fclose(out);
  const std::string all(text, length);
  std::free(text);
  const std::size_t start = all.find("\nverdict");
  return start == std::string::npos ? all : all.substr(start + 1);
}

const std::string taa_risk =
    "risk         On CPUs with TSX asynchronous abort (CVE-2019-11135), transactions let one program read another's "
    "data from the CPU's buffers. The kernel clears these buffers, but not for sibling hardware threads.\n";

class DoctorVerdicts : public testing::Test {
 protected:
  void be_virtual() {
    script.answer_cpuid(1, 0, {0x00050654, 0, 1u << 31, 0});
    script.answer_cpuid(0x40000000, 0, {0x40000001, 0x4b4d564b, 0x564b4d56, 0x0000004d});
  }
  doctor::machine_report examined() { return doctor::collect(true); }

  machine_script script;
};

TEST_F(DoctorVerdicts, Works) {
  script.have_rtm();
  script.files().put(taa_file, "Not affected\n");
  const doctor::machine_report report = examined();
  EXPECT_EQ(report.verdict.kind, verdict_kind::works);
  EXPECT_EQ(verdict_text(report),
            "verdict      works\n"
            "             Hardware transactions work: 100 of 100 one-store attempts committed, nested 7 deep.\n");
}

TEST_F(DoctorVerdicts, WorksAndLeaks) {
  script.have_rtm();
  script.files().put(taa_file, "Vulnerable\n");
  EXPECT_EQ(verdict_text(examined()),
            "verdict      works\n"
            "             Hardware transactions work: 100 of 100 one-store attempts committed, nested 7 deep.\n"
            "risk         This CPU has TSX asynchronous abort; the kernel says: Vulnerable.\n");
}

TEST_F(DoctorVerdicts, NoRtm) {
  EXPECT_EQ(verdict_text(examined()),
            "verdict      no-claim\n"
            "             There is no RTM in CPUID.\n"
            "why          XBEGIN is an illegal instruction here: this CPU has none.\n"
            "remedy       None on this CPU; txsync uses its software paths.\n");
}

TEST_F(DoctorVerdicts, NoRtmAndNotTried) {
  be_virtual();
  const doctor::machine_report report = doctor::collect(false);
  EXPECT_EQ(report.unclaimed.tries, 0u);
  EXPECT_EQ(verdict_text(report),
            "verdict      no-claim\n"
            "             There is no RTM in CPUID.\n"
            "why          XBEGIN itself was not tried; `txsync doctor` does. In a virtual machine CPUID shows what the "
            "host lets through.\n"
            "remedy       Ask `txsync doctor`.\n");
}

TEST_F(DoctorVerdicts, AlwaysAbortsThoughClaimed) {
  script.claim_rtm();
  script.begin_is(begin_nature::always_aborts);
  const doctor::machine_report report = examined();
  EXPECT_EQ(report.verdict.kind, verdict_kind::always_aborts);
  EXPECT_EQ(
      verdict_text(report),
      "verdict      always-aborts\n"
      "             The CPU's XBEGIN always aborts: 0 of 100 one-store attempts committed, 100 aborted with status 0.\n"
      "why          CPUID offers RTM and has no RTM_ALWAYS_ABORT, so something below the claim has switched it off.\n"
      "remedy       If the firmware allows it, boot with tsx=on on the kernel's command line, or with tsx=auto "
      "(default since Linux 7.0; on only without TSX asynchronous abort).\n" +
          taa_risk);
}

TEST_F(DoctorVerdicts, AlwaysAbortsThoughClaimedInAVirtualMachine) {
  be_virtual();
  script.claim_rtm();
  script.begin_is(begin_nature::always_aborts);
  const std::string text = verdict_text(examined());
  EXPECT_NE(text.find("The CPU's XBEGIN always aborts"), std::string::npos);
  EXPECT_NE(text.find("switched it off: the hypervisor (KVMKVMKVM) or the host's kernel."), std::string::npos);
  EXPECT_NE(text.find("give the guest a CPU model with RTM"), std::string::npos);
}

TEST_F(DoctorVerdicts, AlwaysAbortsUnclaimed) {
  script.begin_is(begin_nature::always_aborts);
  const doctor::machine_report report = examined();
  EXPECT_EQ(report.verdict.kind, verdict_kind::always_aborts);
  EXPECT_EQ(verdict_text(report),
            "verdict      always-aborts\n"
            "             The CPU's XBEGIN always aborts: 100 of 100 tries aborted, 100 of them with status 0.\n"
            "why          There is no RTM in CPUID, but the instruction is there: transactions are switched off, not "
            "missing, by the firmware or this kernel, whose default before Linux 7.0 is tsx=off.\n"
            "remedy       If you can, boot with tsx=on on the kernel's command line, or with tsx=auto (default since "
            "Linux 7.0; on only without TSX asynchronous abort).\n" +
                taa_risk);
}

TEST_F(DoctorVerdicts, AlwaysAbortsUnclaimedInAVirtualMachine) {
  be_virtual();
  script.begin_is(begin_nature::always_aborts);
  EXPECT_EQ(verdict_text(examined()),
            "verdict      always-aborts\n"
            "             The CPU's XBEGIN always aborts: 100 of 100 tries aborted, 100 of them with status 0.\n"
            "why          There is no RTM in CPUID, but the instruction is there: transactions are switched off, not "
            "missing, by the host's kernel or the hypervisor (KVMKVMKVM).\n"
            "remedy       If you can: on the host, boot with tsx=on on the kernel's command line, or with tsx=auto "
            "(default since Linux 7.0; on only without TSX asynchronous abort). Then give the guest a CPU model with "
            "RTM (for example host passthrough).\n" +
                taa_risk);
}

TEST_F(DoctorVerdicts, SwitchedOffByMicrocode) {
  script.answer_cpuid(7, 0, {0, rtm, 0, always_abort});
  script.begin_is(begin_nature::always_aborts);
  EXPECT_EQ(verdict_text(examined()),
            "verdict      switched-off-microcode\n"
            "             Hardware transactions are switched off by the CPU's microcode: every XBEGIN always aborts.\n"
            "why          CPUID has RTM_ALWAYS_ABORT.\n"
            "remedy       None that is safe: an older microcode, or a CPU that does not need this update.\n"
            "risk         An older microcode brings back the errors and the leaks that the update closes.\n");
}

TEST_F(DoctorVerdicts, DisabledByTheKernelsCommandLine) {
  script.files().put("/proc/cmdline", "BOOT_IMAGE=/vmlinuz ro tsx=on quiet tsx=off\n");
  script.begin_is(begin_nature::always_aborts);
  EXPECT_EQ(
      verdict_text(examined()),
      "verdict      disabled-by-kernel\n"
      "             Hardware transactions are disabled by the kernel: tsx=off is on its command line.\n"
      "why          There is no RTM in CPUID, and XBEGIN always aborts (100 of 100 tries, 100 of them with status 0).\n"
      "remedy       Take tsx=off away; boot with tsx=on on the kernel's command line, or with tsx=auto (default since "
      "Linux 7.0; on only without TSX asynchronous abort).\n" +
          taa_risk);
}

TEST_F(DoctorVerdicts, DisabledByTheKernelsMitigation) {
  script.files().put(taa_file, "Mitigation: TSX disabled\n");
  script.begin_is(begin_nature::always_aborts);
  const doctor::machine_report report = doctor::collect(false);
  EXPECT_EQ(verdict_text(report),
            "verdict      disabled-by-kernel\n"
            "             Hardware transactions are disabled by the kernel: it says \"Mitigation: TSX disabled\".\n"
            "why          There is no RTM in CPUID.\n"
            "remedy       To have them in spite of that, boot with tsx=on on the kernel's command line, or with "
            "tsx=auto (default since Linux 7.0; on only without TSX asynchronous abort).\n" +
                taa_risk);
}

TEST_F(DoctorVerdicts, TsxOffOnACpuThatHasNone) {
  script.files().put("/proc/cmdline", "tsx=off");
  EXPECT_EQ(examined().verdict.kind, verdict_kind::no_claim) << "the kernel could not help";
}

TEST_F(DoctorVerdicts, HiddenByTheHypervisor) {
  be_virtual();
  script.begin_is(begin_nature::commits);
  EXPECT_EQ(verdict_text(examined()),
            "verdict      hidden-by-hypervisor\n"
            "             The CPU's transactions work but are hidden: XBEGIN committed 100 of 100 times, yet there is "
            "no RTM in CPUID.\n"
            "why          This is a virtual machine; the hypervisor (KVMKVMKVM) masks the bit. txsync keeps to CPUID "
            "and does not use them.\n"
            "remedy       Give the guest a CPU model with RTM (for example host passthrough).\n" +
                taa_risk);
}

TEST_F(DoctorVerdicts, HiddenWithoutAHypervisor) {
  script.begin_is(begin_nature::commits);
  const std::string text = verdict_text(examined());
  EXPECT_NE(text.find("record-and-replay debuggers do"), std::string::npos);
}

TEST_F(DoctorVerdicts, KilledByTheEnvironment) {
  script.have_rtm();
  script.set_environment("TXSYNC_HTM", "off");
  const doctor::machine_report report = examined();
  EXPECT_EQ(report.trial.tries, 0u);
  EXPECT_EQ(verdict_text(report),
            "verdict      killed-by-environment\n"
            "             Hardware transactions are switched off for this program by TXSYNC_HTM=off.\n"
            "why          The environment variable is set; nothing was tried.\n"
            "remedy       Unset TXSYNC_HTM.\n");
}

TEST_F(DoctorVerdicts, AnArchitectureWithoutThem) {
  script.claim_is(machine::htm_claim::no_instructions);
  doctor::machine_report report = examined();
  report.cpu.architecture = "aarch64";
  report.verdict = doctor::judge(report);
  EXPECT_EQ(verdict_text(report),
            "verdict      no-instructions\n"
            "             This architecture (aarch64) has no hardware transactions that txsync can use.\n"
            "why          Arm withdrew its Transactional Memory Extension.\n"
            "remedy       None; txsync uses its software paths.\n");
}

TEST_F(DoctorVerdicts, PowerAndIbmZWithout) {
  script.forbid_cpuid();
  const doctor::machine_report report = doctor::collect(false);
  EXPECT_EQ(report.verdict.kind, verdict_kind::no_claim);
  EXPECT_NE(verdict_text(report).find("hwcap"), std::string::npos);
}

TEST_F(DoctorVerdicts, EveryKindHasItsWord) {
  std::string words;
  for (const verdict_kind kind :
       {verdict_kind::works, verdict_kind::killed_by_environment, verdict_kind::no_instructions, verdict_kind::no_claim,
        verdict_kind::always_aborts, verdict_kind::switched_off_microcode, verdict_kind::disabled_by_kernel,
        verdict_kind::hidden_by_hypervisor}) {
    words += std::string(doctor::to_string(kind)) + " ";
  }
  EXPECT_EQ(words,
            "works killed-by-environment no-instructions no-claim always-aborts switched-off-microcode "
            "disabled-by-kernel hidden-by-hypervisor ");
}

}  // namespace
