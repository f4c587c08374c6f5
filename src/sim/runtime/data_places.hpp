// SPDX-License-Identifier: Apache-2.0
// What is at an address of the program's memory, as far as the runtime knows. The reader of the records adds names.
#pragma once

#include <cstddef>
#include <cstdint>

namespace txsync::sim {

enum class data_kind : std::uint8_t { unknown, image, heap, mapped, stack, thread_local_data };

struct data_place {
  data_kind kind = data_kind::unknown;
  std::uint32_t whose = 0;    ///< heap: the code that allocated it; stack, thread-local data: the thread
  std::uintptr_t start = 0;   ///< of a heap block
  std::size_t bytes = 0;      ///< of that block
  std::uintptr_t offset = 0;  ///< from the start
};

data_place data_place_at(std::uintptr_t address) noexcept;

}  // namespace txsync::sim
