// SPDX-License-Identifier: Apache-2.0
#include "doctor/machine_object.hpp"

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {
namespace {

using observe::json;

void put_text(json& into, const char* name, const std::string& text) {
  if (!text.empty()) into[name] = text;
}

void put_count(json& into, const char* name, std::uint64_t count) {
  if (count != 0) into[name] = count;
}

json processor_object(const processor& cpu) {
  json made = json::object();
  put_text(made, "vendor", cpu.vendor);
  if (!cpu.cpuid.readable) return made;
  made["family"] = cpu.family;
  made["model"] = cpu.model;
  made["stepping"] = cpu.stepping;
  put_text(made, "microcode", cpu.microcode);
  made["cpuid"] = {{"rtm", cpu.cpuid.rtm},
                   {"hle", cpu.cpuid.hle},
                   {"rtm_always_abort", cpu.cpuid.rtm_always_abort},
                   {"tsx_force_abort", cpu.cpuid.tsx_force_abort},
                   {"tsxldtrk", cpu.cpuid.tsxldtrk},
                   {"hypervisor", cpu.cpuid.hypervisor}};
  return made;
}

void put_topology(json& into, const topology& found) {
  put_count(into, "cpus", found.allowed);
  put_count(into, "hardware_threads", found.hardware_threads);
  put_count(into, "cores", found.cores);
  put_count(into, "sockets", found.sockets);
  put_count(into, "line_bytes", found.line_bytes);
  put_count(into, "page_bytes", found.page_bytes);
  for (const cache& one : found.caches) {
    json made = {{"level", one.level}, {"type", one.type}, {"bytes", one.bytes}};
    put_count(made, "line_bytes", one.line_bytes);
    put_count(made, "ways", one.ways);
    put_count(made, "shared_by", one.shared_by);
    into["caches"].push_back(std::move(made));
  }
}

void put_system(json& into, const operating_system& system) {
  put_text(into, "kernel", system.kernel);
  put_text(into, "libc", system.libc);
  into["restartable_releases"] = system.restartable_releases;
}

json htm_object(const machine_report& report) {
  const machine::htm_capability& can = report.trial.capability;
  json made = {{"works", can.attempts}, {"verdict", to_string(report.verdict.kind)}};
  put_text(made, "what", report.verdict.what);
  put_text(made, "why", report.verdict.why);
  put_text(made, "remedy", report.verdict.remedy);
  put_text(made, "risk", report.verdict.risk);
  made["tries"] = report.trial.tries;
  made["commits"] = report.trial.commits;
  made["without_reason"] = report.trial.without_reason;
  if (report.unclaimed.tries != 0) {
    made["unclaimed"] = {{"illegal", report.unclaimed.illegal},
                         {"tries", report.unclaimed.tries},
                         {"commits", report.unclaimed.commits},
                         {"without_reason", report.unclaimed.without_reason}};
  }
  made["max_depth"] = can.max_depth;
  made["hle"] = can.hle;
  made["suspend"] = can.suspend;
  made["rollback_only"] = can.rollback_only;
  made["always_abort"] = can.always_abort;
  put_text(made, "tsx_option", report.system.tsx_option);
  put_text(made, "taa", report.system.taa);
  made["disabled_by_kernel"] = to_string(report.system.disabled_tsx);
  made["libc_has_elision"] = to_string(report.system.libc_has_elision);
  return made;
}

}  // namespace

json machine_object(const machine_report& report) {
  json made = {{"backend", report.backend}};
  put_text(made, "architecture", report.cpu.architecture);
  put_text(made, "cpu", report.cpu.model_name);
  put_text(made, "hypervisor", report.cpu.hypervisor);
  put_topology(made, report.topology);
  put_system(made, report.system);
  made["processor"] = processor_object(report.cpu);
  made["htm"] = htm_object(report);
  return made;
}

std::string machine_line(const machine_report& report) {
  return fmt::format("{}, {} CPU{}, {}, {}, hardware transactions {}",
                     report.cpu.model_name.empty() ? report.cpu.architecture : report.cpu.model_name,
                     report.topology.allowed, report.topology.allowed == 1 ? "" : "s", report.system.kernel,
                     report.system.libc, report.trial.capability.attempts ? "work" : "do not work");
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
