// SPDX-License-Identifier: Apache-2.0
// What the doctor reads, on scripted machines.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctor/report.hpp>
#include <doctor/text_file.hpp>
#include <machine/scripted/script.hpp>

namespace {

namespace doctor = txsync::doctor;
using doctor::known;
using txsync::script::machine_script;

TEST(DoctorTexts, CpuLists) {
  using list = std::vector<unsigned>;
  EXPECT_EQ(doctor::cpu_list("0"), (list{0}));
  EXPECT_EQ(doctor::cpu_list("0-3,8"), (list{0, 1, 2, 3, 8}));
  EXPECT_EQ(doctor::cpu_list("2,4-5"), (list{2, 4, 5}));
  EXPECT_EQ(doctor::cpu_list(""), list{});
  EXPECT_EQ(doctor::cpu_list("1,x,2"), (list{1}));
  EXPECT_EQ(doctor::cpu_list("5-2"), list{});
  EXPECT_EQ(doctor::cpu_list("0-4294967295"), list{}) << "nobody has so many";
}

TEST(DoctorTexts, CommandLines) {
  const std::string line = "root=/dev/vda tsx=on xtsx=no tsx=auto tsx quiet";
  EXPECT_EQ(doctor::command_line_value(line, "tsx"), "auto");
  EXPECT_EQ(doctor::command_line_value(line, "mitigations"), "");
  EXPECT_EQ(doctor::command_line_value("", "tsx"), "");
}

TEST(DoctorTexts, Cpuinfo) {
  const std::string text = "processor\t: 0\nmodel name\t: Some CPU: fast\nmicrocode\t: 0xd0003a5\n\nprocessor\t: 1\n";
  EXPECT_EQ(doctor::cpuinfo_value(text, "model name"), "Some CPU: fast");
  EXPECT_EQ(doctor::cpuinfo_value(text, "microcode"), "0xd0003a5");
  EXPECT_EQ(doctor::cpuinfo_value(text, "model"), "") << "whole keys only";
}

class DoctorFacts : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) { script.files().put(path, text + "\n"); }

  void put_cpu(unsigned cpu, unsigned socket, unsigned core) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    put(folder + "physical_package_id", std::to_string(socket));
    put(folder + "core_id", std::to_string(core));
  }

  void put_cache(unsigned index, unsigned level, const char* type, const char* size, const char* shared) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    put(folder + "level", std::to_string(level));
    put(folder + "type", type);
    put(folder + "size", size);
    put(folder + "coherency_line_size", "64");
    put(folder + "ways_of_associativity", "12");
    put(folder + "shared_cpu_list", shared);
  }

  machine_script script;
};

TEST_F(DoctorFacts, Processor) {
  script.begin_is(txsync::script::begin_nature::commits);
  // GenuineIntel, family 6 model 0x8f stepping 8 (Sapphire Rapids), in a virtual machine.
  script.answer_cpuid(0, 0, {0x20, 0x756e6547, 0x6c65746e, 0x49656e69});
  script.answer_cpuid(1, 0, {0x000806f8, 0, 1u << 31, 0});
  script.answer_cpuid(7, 0, {2, (1u << 4) | (1u << 11), 0, (1u << 13) | (1u << 16)});
  script.answer_cpuid(0x40000000, 0, {0x40000001, 0x4b4d564b, 0x564b4d56, 0x0000004d});
  script.answer_cpuid(0x80000002, 0, {0x20202020, 0x65746e49, 0x2952286c, 0x6f655820});
  script.answer_cpuid(0x80000003, 0, {0x2952286e, 0, 0, 0});
  script.answer_cpuid(0x80000004, 0, {0, 0, 0, 0});
  put("/proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0x2b000603");
  const doctor::processor cpu = doctor::collect().cpu;
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.model_name, "Intel(R) Xeon(R)");
  EXPECT_EQ(cpu.family, 6u);
  EXPECT_EQ(cpu.model, 0x8fu);
  EXPECT_EQ(cpu.stepping, 8u);
  EXPECT_EQ(cpu.microcode, "0x2b000603");
  EXPECT_EQ(cpu.hypervisor, "KVMKVMKVM");
  EXPECT_TRUE(cpu.cpuid.readable && cpu.cpuid.rtm && cpu.cpuid.hle && cpu.cpuid.hypervisor);
  EXPECT_TRUE(cpu.cpuid.tsx_force_abort && cpu.cpuid.tsxldtrk);
  EXPECT_FALSE(cpu.cpuid.rtm_always_abort);
}

TEST_F(DoctorFacts, ExtendedFamily) {
  script.answer_cpuid(1, 0, {0x00a20f12, 0, 0, 0});  // Zen 3: family 0x19, model 0x21
  const doctor::processor cpu = doctor::collect().cpu;
  EXPECT_EQ(cpu.family, 0x19u);
  EXPECT_EQ(cpu.model, 0x21u);
  EXPECT_EQ(cpu.hypervisor, "");
}

TEST_F(DoctorFacts, ProcessorWithoutCpuid) {
  script.forbid_cpuid();
  put("/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER8E (raw)");
  const doctor::processor cpu = doctor::collect().cpu;
  EXPECT_FALSE(cpu.cpuid.readable);
  EXPECT_EQ(cpu.model_name, "POWER8E (raw)");
}

TEST_F(DoctorFacts, Topology) {
  put("/sys/devices/system/cpu/online", "0-7");
  for (unsigned cpu = 0; cpu < 8; ++cpu) put_cpu(cpu, cpu / 2 % 2, cpu % 2);  // core numbers repeat in each socket
  put_cache(0, 1, "Data", "48K", "0,4");
  put_cache(1, 1, "Instruction", "32K", "0,4");
  put_cache(2, 2, "Unified", "2048K", "0,4");
  put_cache(3, 3, "Unified", "480M", "0-1,4-5");
  const doctor::topology found = doctor::collect().topology;
  EXPECT_EQ(found.sockets, 2u);
  EXPECT_EQ(found.cores, 4u);
  EXPECT_EQ(found.hardware_threads, 8u);
  EXPECT_TRUE(found.smt());
  EXPECT_EQ(found.allowed, 4u) << "the script's CPUs";
  EXPECT_EQ(found.line_bytes, 64u);
  EXPECT_GE(found.page_bytes, 4096u);
  ASSERT_EQ(found.caches.size(), 4u);
  EXPECT_EQ(found.caches[0].bytes, 48u << 10);
  EXPECT_EQ(found.caches[0].ways, 12u);
  EXPECT_EQ(found.caches[3].bytes, std::uint64_t{480} << 20);
  EXPECT_EQ(found.caches[3].shared_by, 4u);
  EXPECT_EQ(found.caches[1].type, "Instruction");
}

TEST_F(DoctorFacts, NothingIsKnownIsNoError) {
  const doctor::machine_report report = doctor::collect(true);
  EXPECT_EQ(report.backend, "scripted");
  EXPECT_EQ(report.topology.sockets, 0u);
  EXPECT_FALSE(report.topology.smt());
  EXPECT_TRUE(report.topology.caches.empty());
  EXPECT_EQ(report.system.taa, "");
}

TEST_F(DoctorFacts, FilesThatCannotBeReadAreUnknown) {
  put("/proc/cmdline", "tsx=off");
  script.files().fail(txsync::script::file_call::read_text, 2, 5);  // after /proc/cpuinfo
  EXPECT_EQ(doctor::collect().system.tsx_option, "");
}

TEST_F(DoctorFacts, OperatingSystem) {
  script.kernel_is("Linux 7.0.3");
  script.releases_are_restartable(true);
  put("/proc/cmdline", "quiet tsx=auto");
  put("/sys/devices/system/cpu/vulnerabilities/tsx_async_abort", "Not affected");
  const doctor::operating_system system = doctor::collect().system;
  EXPECT_EQ(system.kernel, "Linux 7.0.3");
  EXPECT_EQ(system.tsx_option, "auto");
  EXPECT_EQ(system.taa, "Not affected");
  EXPECT_EQ(system.disabled_tsx, known::unknown);
  EXPECT_TRUE(system.restartable_releases);
}

TEST_F(DoctorFacts, WhoSwitchedTsxOff) {
  put("/proc/cmdline", "tsx=off");
  EXPECT_EQ(doctor::collect().system.disabled_tsx, known::yes);
  script.claim_rtm();
  script.begin_is(txsync::script::begin_nature::commits);
  EXPECT_EQ(doctor::collect().system.disabled_tsx, known::no) << "RTM is offered all the same";
}

TEST_F(DoctorFacts, ElisionOfTheLibc) {
  const auto with = [this](const char* libc) {
    script.libc_is(libc);
    return doctor::collect().system.libc_has_elision;
  };
  EXPECT_EQ(with("glibc 2.17"), known::no);
  EXPECT_EQ(with("glibc 2.18"), known::yes);
  EXPECT_EQ(with("glibc 2.42"), known::yes);
  EXPECT_EQ(with("glibc 2.43"), known::no);
  EXPECT_EQ(with("unknown libc"), known::unknown);
}

TEST_F(DoctorFacts, ThePageForPeople) {
  script.have_rtm();
  put("/sys/devices/system/cpu/online", "0-1");
  put_cpu(0, 0, 0);
  put_cpu(1, 0, 1);
  put_cache(0, 1, "Data", "48K", "0");
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const out = open_memstream(&text, &length);
  doctor::print(doctor::collect(), out);
  std::fclose(out);
  const std::string page(text, length);
  std::free(text);
  for (const char* line : {
           "topology     1 socket, 2 cores, 2 hardware threads (4 allowed), no SMT\n",
           "cache        L1 Data, 48 KiB, 12 ways, shared by 1 hardware thread\n",
           "kernel       Linux 6.1.0, no tsx= on its command line\n",
           "TAA          the kernel does not say\n",
           "libc         glibc 2.36, has lock elision of its own (removed in 2.43)\n",
           "CPUID        RTM yes, HLE no, RTM_ALWAYS_ABORT no, TSX_FORCE_ABORT no, TSXLDTRK no\n",
           "attempts     100 of 100 one-store attempts committed, 0 aborted without a reason\n",
       }) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "is not in\n" << page;
  }
}

}  // namespace
