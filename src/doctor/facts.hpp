// SPDX-License-Identifier: Apache-2.0
// The parts that collect() combines.
#pragma once

#include "report.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

processor read_processor();
doctor::topology read_topology();
/// `rtm_offered`: CPUID has the RTM bit, so the kernel has not switched RTM off.
operating_system read_operating_system(bool rtm_offered);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
