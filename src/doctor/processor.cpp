// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <txsync/machine/cpu.hpp>

#include "facts.hpp"
#include "text_file.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

namespace {

using leaf = std::uint32_t[4];
enum register_index { eax, ebx, ecx, edx };

bool has_bit(std::uint32_t word, unsigned bit) { return ((word >> bit) & 1) != 0; }

/// A text that CPUID spreads over several registers, up to the first zero.
std::string text_in(std::initializer_list<std::uint32_t> registers) {
  std::string text;
  for (const std::uint32_t word : registers) {
    char bytes[sizeof word];
    std::memcpy(bytes, &word, sizeof word);
    text.append(bytes, sizeof bytes);
  }
  text.resize(std::strlen(text.c_str()));
  return text;
}

std::string brand_name() {
  std::string name;
  for (std::uint32_t number = 0x80000002; number <= 0x80000004; ++number) {
    leaf part;
    if (!machine::cpuid(number, 0, part)) return {};
    name += text_in({part[eax], part[ebx], part[ecx], part[edx]});
  }
  const std::size_t first = name.find_first_not_of(' ');
  return first == std::string::npos ? std::string{} : name.substr(first, name.find_last_not_of(' ') - first + 1);
}

/// Family, model and stepping with their extended parts (Intel SDM vol. 2, CPUID leaf 1).
void decode_version(std::uint32_t version, processor& cpu) {
  cpu.stepping = version & 0xF;
  cpu.model = (version >> 4) & 0xF;
  cpu.family = (version >> 8) & 0xF;
  if (cpu.family == 6 || cpu.family == 15) cpu.model |= ((version >> 16) & 0xF) << 4;
  if (cpu.family == 15) cpu.family += (version >> 20) & 0xFF;
}

void read_cpuid(processor& cpu) {
  leaf answer;
  if (!machine::cpuid(0, 0, answer)) return;
  cpu.cpuid.readable = true;
  cpu.vendor = text_in({answer[ebx], answer[edx], answer[ecx]});
  if (machine::cpuid(1, 0, answer)) {
    decode_version(answer[eax], cpu);
    cpu.cpuid.hypervisor = has_bit(answer[ecx], 31);
  }
  if (machine::cpuid(7, 0, answer)) {
    cpu.cpuid.hle = has_bit(answer[ebx], 4);
    cpu.cpuid.rtm = has_bit(answer[ebx], 11);
    cpu.cpuid.rtm_always_abort = has_bit(answer[edx], 11);
    cpu.cpuid.tsx_force_abort = has_bit(answer[edx], 13);
    cpu.cpuid.tsxldtrk = has_bit(answer[edx], 16);
  }
  if (cpu.cpuid.hypervisor && machine::cpuid(0x40000000, 0, answer)) {
    cpu.hypervisor = text_in({answer[ebx], answer[ecx], answer[edx]});
  }
  cpu.model_name = brand_name();
}

constexpr const char* architecture_name =
#if defined(__x86_64__)
    "x86-64";
#elif defined(__aarch64__)
    "aarch64";
#elif defined(__powerpc64__)
    "ppc64le";
#elif defined(__s390x__)
    "s390x";
#else
    "unknown";
#endif

}  // namespace

processor read_processor() {
  processor cpu;
  cpu.architecture = architecture_name;
  read_cpuid(cpu);
  const std::string cpuinfo = text_of("/proc/cpuinfo");
  cpu.microcode = cpuinfo_value(cpuinfo, "microcode");
  // x86 says "model name" and POWER "cpu". s390 and some ARM kernels name only the vendor.
  for (const char* key : {"model name", "cpu", "Model"}) {
    if (cpu.model_name.empty()) cpu.model_name = cpuinfo_value(cpuinfo, key);
  }
  if (cpu.vendor.empty()) cpu.vendor = cpuinfo_value(cpuinfo, "vendor_id");
  return cpu;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
