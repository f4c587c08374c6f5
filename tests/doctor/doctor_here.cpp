// SPDX-License-Identifier: Apache-2.0
// The doctor on the machine at hand, whatever it is.
#include <gtest/gtest.h>

#include <doctor/report.hpp>
#include <txsync/machine/thread.hpp>

namespace {

namespace doctor = txsync::doctor;

TEST(DoctorHere, TheReportAgreesWithItself) {
  const doctor::machine_report report = doctor::collect(true);
  EXPECT_EQ(report.backend, "native");
  EXPECT_FALSE(report.cpu.architecture.empty());
  EXPECT_EQ(report.system.kernel.rfind("Linux ", 0), 0u);
  EXPECT_EQ(report.topology.allowed, txsync::machine::cpu_count());
  EXPECT_GE(report.topology.hardware_threads, report.topology.cores);
  EXPECT_GE(report.topology.cores, report.topology.sockets);
  EXPECT_EQ(report.verdict.kind == doctor::verdict_kind::works, report.trial.capability.attempts);
  EXPECT_FALSE(report.verdict.what.empty());
  EXPECT_EQ(doctor::judge(report).what, report.verdict.what);
}

#if defined(__x86_64__)
TEST(DoctorHere, X86ReadsItsCpuid) {
  const doctor::machine_report report = doctor::collect();
  EXPECT_TRUE(report.cpu.cpuid.readable);
  EXPECT_EQ(report.cpu.vendor.size(), 12u);
  EXPECT_NE(report.cpu.family, 0u);
}
#endif

}  // namespace
