// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/environment.hpp>

#include "facts.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

machine_report collect(bool probe_unclaimed) {
  machine_report report;
  report.backend = machine::backend_name();
  report.cpu = read_processor();
  report.system = read_operating_system(report.cpu.cpuid.rtm);
  report.topology = read_topology();
  report.trial = machine::try_htm(machine::htm_default_tries);
  if (probe_unclaimed && report.trial.obstacle == machine::htm_obstacle::not_claimed) {
    report.unclaimed = machine::try_unclaimed_htm(machine::htm_default_tries);
  }
  report.verdict = judge(report);
  return report;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
