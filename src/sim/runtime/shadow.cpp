// SPDX-License-Identifier: Apache-2.0
#include "shadow.hpp"

namespace txsync::sim {

void shadow::set_up(unsigned line_bytes, unsigned cores, unsigned hardware_threads) noexcept {
  line_shift_ = static_cast<unsigned>(__builtin_ctz(line_bytes));
  core_words_ = (cores + 63) / 64;
  thread_words_ = (hardware_threads + 63) / 64;
  stride_ = sizeof(line_record) + sizeof(std::uint64_t) * (core_words_ + thread_words_);
  // Records share no host cache line if that costs little memory.
  if (stride_ <= 32) stride_ = 32;
  reserve(records_begin, (program_end >> line_shift_) * stride_, "records of cache lines");
}

}  // namespace txsync::sim
