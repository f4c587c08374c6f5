// SPDX-License-Identifier: Apache-2.0
#include "launch/machine_load.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

double busy_cpu_s(const std::string& text, double ticks_per_s) {
  // proc(5): user nice system idle iowait irq softirq steal. The time of guests is part of user and nice.
  std::istringstream in(text);
  std::string word;
  double ticks[8] = {};
  if (!(in >> word) || word != "cpu") return 0;
  for (double& one : ticks) {
    if (!(in >> one)) return 0;
  }
  return (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7]) / ticks_per_s;
}

double busy_cpu_s() {
  std::ifstream file("/proc/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  return busy_cpu_s(line, static_cast<double>(sysconf(_SC_CLK_TCK)));
}

std::string crowd_words(double wall_s, double own_s, double others_s, unsigned cpus) {
  constexpr double min_others = 0.1;
  constexpr double min_busy = 0.8;
  const double all_s = wall_s * cpus;
  if (others_s < min_others * all_s || own_s + others_s < min_busy * all_s) return {};
  return fmt::format("other programs had {:.2f} of the machine's {} CPU{} meanwhile", others_s / wall_s, cpus,
                     cpus == 1 ? "" : "s");
}

std::string crowd_words(double wall_s, double own_s, double others_s) {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  return crowd_words(wall_s, own_s, others_s, cpus > 0 ? static_cast<unsigned>(cpus) : 1);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
