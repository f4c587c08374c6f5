// SPDX-License-Identifier: Apache-2.0
// Functions of the software algorithms that hybrids use, too (tm/hybrid). Members of `algorithm` with the same names.
#pragma once

#include "tm/stm/dctl.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace dctl_parts {
std::uint64_t read(engine& me, const word& cell, orec& record);
void write(engine& me, word& cell, orec& record, std::uint64_t value);
void roll_back(engine& me) noexcept;
}  // namespace dctl_parts

namespace norec_parts {
void begin(engine& me);
std::uint64_t read(engine& me, const word& cell, orec& record);
void write(engine& me, word& cell, orec& record, std::uint64_t value);
bool commit(engine& me);
void roll_back(engine& me) noexcept;
bool is_valid(engine& me) noexcept;
void add_reads(engine& me, stripe_set& into) noexcept;
}  // namespace norec_parts

namespace tinystm_parts {
void begin_buffered(engine& me);
std::uint64_t read_buffered(engine& me, const word& cell, orec& record);
void write_buffered(engine& me, word& cell, orec& record, std::uint64_t value);
bool commit_buffered(engine& me);
void roll_back_buffered(engine& me) noexcept;
}  // namespace tinystm_parts

namespace tl2_parts {
void begin(engine& me);
std::uint64_t read(engine& me, const word& cell, orec& record);
void write(engine& me, word& cell, orec& record, std::uint64_t value);
bool commit(engine& me);
void roll_back(engine& me) noexcept;
void roll_back_to(engine& me, const log_mark& mark) noexcept;
bool is_valid(engine& me) noexcept;
}  // namespace tl2_parts

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
