// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <txsync/machine/environment.hpp>
#include <txsync/machine/restartable.hpp>

#include "facts.hpp"
#include "text_file.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

namespace {

known kernel_disabled_tsx(const operating_system& system, bool rtm_offered) {
  if (rtm_offered) return known::no;
  if (system.tsx_option == "off" || system.taa.find("TSX disabled") != std::string::npos) return known::yes;
  return known::unknown;
}

/// glibc had lock elision from 2.18 to 2.42; 2.43 removed it (commit b9579342c6).
known has_elision(const std::string& libc) {
  unsigned major = 0;
  unsigned minor = 0;
  if (std::sscanf(libc.c_str(), "glibc %u.%u", &major, &minor) != 2) return known::unknown;
  return major == 2 && minor >= 18 && minor <= 42 ? known::yes : known::no;
}

}  // namespace

operating_system read_operating_system(bool rtm_offered) {
  operating_system system;
  system.kernel = machine::kernel_version();
  system.tsx_option = command_line_value(text_of("/proc/cmdline"), "tsx");
  system.taa = text_of("/sys/devices/system/cpu/vulnerabilities/tsx_async_abort");
  system.disabled_tsx = kernel_disabled_tsx(system, rtm_offered);
  system.libc = machine::libc_version();
  system.libc_has_elision = has_elision(system.libc);
  system.restartable_releases = machine::releases_are_restartable();
  return system;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
