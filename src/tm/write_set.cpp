// SPDX-License-Identifier: Apache-2.0
#include "tm/write_set.hpp"

#include <cstdlib>
#include <limits>
#include <new>

#include <txsync/machine/assert.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

write_set::~write_set() { std::free(slots_); }

write_set::outcome write_set::put(word& cell, std::uint64_t value, bool keep_replaced) {
  if (slots_ == nullptr || 2 * (size() + 1) > slot_count()) grow();
  slot& place = slots_[slot_of(cell)];
  if (place.generation == generation_) {
    new_value& entry = entries_[place.index];
    if (keep_replaced) replaced_.append({place.index, entry.value});
    entry.value = value;
    return outcome::overwritten;
  }
  entries_.append({&cell, value});
  place = {generation_, static_cast<std::uint32_t>(size() - 1)};
  return outcome::added;
}

void write_set::roll_back_to(std::size_t size, std::size_t replaced) noexcept {
  TXSYNC_ASSERT(size <= entries_.size() && replaced <= replaced_.size(), "the set has grown since it had that size");
  for (std::size_t i = replaced_.size(); i-- > replaced;) entries_[replaced_[i].index].value = replaced_[i].value;
  replaced_.truncate(replaced);
  // The last entry first: the probe for an entry never passes the slot of a later one. So no probe is cut off.
  for (std::size_t i = entries_.size(); i-- > size;) {
    slots_[slot_of(*entries_[i].cell)].generation = generation_ - 1;
    entries_.truncate(i);
  }
}

void write_set::grow() {
  const unsigned bits = slots_ == nullptr ? first_bits : 64 - shift_ + 1;
  if (size() >= std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
  auto* const grown = static_cast<slot*>(std::calloc(std::size_t{1} << bits, sizeof(slot)));
  if (grown == nullptr) throw std::bad_alloc();
  std::free(slots_);
  slots_ = grown;
  shift_ = 64 - bits;
  generation_ = 1;
  for (std::size_t i = 0; i < size(); ++i) {
    slots_[slot_of(*entries_[i].cell)] = {generation_, static_cast<std::uint32_t>(i)};
  }
}

void write_set::forget_generations() noexcept {
  for (std::size_t i = 0; i < slot_count(); ++i) slots_[i].generation = 0;
  generation_ = 1;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
