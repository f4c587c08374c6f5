// SPDX-License-Identifier: Apache-2.0
// Lock elision by prefix (XACQUIRE, XRELEASE; Intel SDM vol. 1, 16.3.3). The store to the lock is never made: others
// go on seeing the lock as it was, while the eliding thread sees what it would have stored. Since the program's loads
// go to memory directly, the value inside is in memory exactly while that thread runs.
#pragma once

#include "fiber.hpp"

namespace txsync::sim {

void show_elided_locks(thread_record& thread) noexcept;
void hide_elided_locks(thread_record& thread) noexcept;

}  // namespace txsync::sim
