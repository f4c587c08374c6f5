// SPDX-License-Identifier: Apache-2.0
// How busy other programs keep the machine while a program is measured.
#pragma once

#include <string>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// The CPU seconds that all processes have used since the machine started, in steps of 10 ms. They include what the
/// hypervisor gave to other guests. 0 if /proc/stat cannot be read. Costs some 50 us.
double busy_cpu_s();

/// The same for a text like that of /proc/stat; 0 if it is no such text.
double busy_cpu_s(const std::string& text, double ticks_per_s);

/// "other programs had 1.62 of the machine's 2 CPUs meanwhile". Empty if their part was under a tenth. Also empty if
/// CPUs were idle for a fifth of the time: the measured program hardly had to wait for one then. `own_s` and `others_s`
/// are CPU seconds within `wall_s`.
std::string crowd_words(double wall_s, double own_s, double others_s, unsigned cpus);
/// The same for the number of this machine's CPUs.
std::string crowd_words(double wall_s, double own_s, double others_s);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch
