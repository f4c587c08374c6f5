// SPDX-License-Identifier: Apache-2.0
// What list and hashmap have in common: numbers in linked items, which are allocated outside of critical sections.
// Threads find, insert and remove them; they are counted at the end. Source: thesis on TSX in InnoDB, 3.3.3 and 3.3.4.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "workloads/generators/structure.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// A number in a list. `thread` and `number` serve to check the order of insertions.
struct item {
  std::uint32_t value;
  std::uint32_t thread;  ///< the thread that inserted it
  std::uint64_t number;  ///< how many insertions the thread had made before
  item* next = nullptr;
  item* before = nullptr;  ///< in lists that are linked both ways
};

/// An object alone on a line of 64 bytes, the thesis's line size.
template <class Object>
struct alignas(64) line_of {
  Object object{};
};

/// The parameters that both have, by name.
struct value_set_shape {
  std::uint64_t items;   ///< initially
  std::uint64_t values;  ///< values are below this
  std::uint64_t reads;   ///< percent of operations that look up a value; half of the others insert, half remove
  bool unique;           ///< no value occurs twice
  bool aligned;          ///< each item is alone on a line
  bool allocates_inside;
  bool removes_own;  ///< removes what the thread itself inserted, oldest first; otherwise a random value
};
inline constexpr const char* alignments[] = {"aligned", "malloc"};
inline constexpr const char* allocation_places[] = {"outside", "inside"};

/// Null if there is no memory.
item* take_item(bool aligned) noexcept;
void give_item(item* one) noexcept;

class value_set;

/// A thread that looks up, inserts and removes.
class alignas(machine::pad_bytes) value_visitor final : public visitor {
 public:
  void start(value_set& shared, unsigned thread, std::uint64_t seed) noexcept;
  /// Adds one of the initial values, before the threads start. False if there is no memory.
  bool put(std::uint32_t value);

  section_list draw() override;
  void apply(unsigned section) override;
  void warm(unsigned section, warm_memory& memory) override;
  void settle() override;

  // For the check:
  std::uint64_t inserted() const noexcept { return inserted_; }
  std::uint64_t removed() const noexcept { return removed_; }
  /// The sum of the hashes of inserted values minus those of removed ones. It does not depend on the order.
  std::uint64_t sum() const noexcept { return sum_; }
  bool lost_own() const noexcept { return lost_own_; }
  bool starved() const noexcept { return starved_; }

 private:
  enum class action : std::uint8_t { find, insert, remove };

  action draw_action() noexcept;
  item* fresh_item() noexcept;
  void give_fresh() noexcept;
  void give_gone() noexcept;
  void settle_insertion();
  void settle_removal();

  value_set* set_ = nullptr;
  random_stream random_{0, 0};
  std::uint32_t thread_ = 0;
  action action_ = action::find;
  std::uint32_t value_ = 0;
  bool done_ = false;
  item* fresh_ = nullptr;  ///< to be inserted
  item* gone_ = nullptr;   ///< was removed

  /// Inserted and not removed, oldest first. Used only if a thread removes its own values.
  std::deque<std::uint32_t> own_;
  std::uint64_t inserted_ = 0;
  std::uint64_t removed_ = 0;
  std::uint64_t sum_ = 0;
  bool lost_own_ = false;
  bool starved_ = false;
};

class value_set : public structure {
 public:
  value_set(const value_set_shape& shape, const plan& how) noexcept;

  const value_set_shape& shape() const noexcept { return shape_; }
  visitor& visitor_of(unsigned thread) noexcept override { return visitors_[thread]; }
  const char* complaint() const override;
  std::uint64_t hash() const override;

  virtual std::uint64_t lock_of(std::uint32_t value) const noexcept = 0;
  // In a section:
  virtual bool find(std::uint32_t value) const noexcept = 0;
  /// False, without a change, if the value is there and may not occur twice.
  virtual bool insert(item* fresh) noexcept = 0;
  /// Removes the first item with that value and returns it; null if there is none.
  virtual item* remove(std::uint32_t value) noexcept = 0;
  /// Called outside the section by a thread that is about to do one of these. `changes`: not a find.
  virtual void foretell(std::uint32_t /*value*/, bool /*changes*/, warm_memory& /*memory*/) noexcept {}

 protected:
  /// The items of a chain, in the order of their links.
  virtual unsigned chains() const noexcept = 0;
  virtual item* first_of(unsigned chain) const noexcept = 0;
  /// Null, or what is wrong with an item at its position. `before` is null at the start of a chain.
  virtual const char* wrong_at(unsigned chain, const item* before, const item& one) const noexcept = 0;
  /// The same for the end of a chain; `last` is null for an empty chain.
  virtual const char* wrong_at_end(const item* last) const noexcept = 0;

  bool visitors_ok() const noexcept { return visitors_.ok(); }
  /// Draws the initial values and gives them to the threads in turn. A value occurs twice only if that is allowed.
  /// False if there is no memory.
  bool fill(std::uint64_t seed);
  /// For destructors. Items with wrong links are not freed.
  void give_all() noexcept;

 private:
  /// Adds the chain's values. Null, or what is wrong with its items.
  const char* walk(unsigned chain, std::uint64_t most, std::vector<std::uint32_t>& into) const;

  value_set_shape shape_;
  page_array<value_visitor> visitors_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
