// SPDX-License-Identifier: Apache-2.0
// The order of the CPUs: the rule of machine::placement, for a list of CPUs from hwloc or from a script.
#pragma once

#include <vector>

#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// The position of one usable hardware thread. Core numbers are unique in the machine, not only within a socket.
struct cpu_place {
  unsigned cpu = 0;  ///< the system's number
  unsigned core = 0;
  unsigned socket = 0;
};

/// The CPUs in the order in which threads take them. `socket` is the socket's position among the sockets of `places`;
/// only placement::socket uses it. Empty if there is no such socket.
std::vector<unsigned> placement_order(std::vector<cpu_place> places, placement how, unsigned socket);

/// The number of different sockets in `places`.
unsigned sockets_of(const std::vector<cpu_place>& places);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail
