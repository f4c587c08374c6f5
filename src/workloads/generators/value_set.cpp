// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/value_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr std::size_t item_line = 64;
static_assert(sizeof(item) <= item_line);

std::uint64_t hash_of(std::uint32_t value) noexcept { return mix(value + 1ULL); }

}  // namespace

item* take_item(bool aligned) noexcept {
  return static_cast<item*>(aligned ? std::aligned_alloc(item_line, item_line) : std::malloc(sizeof(item)));
}

void give_item(item* one) noexcept { std::free(one); }

// ---- a thread

void value_visitor::start(value_set& shared, unsigned thread, std::uint64_t seed) noexcept {
  set_ = &shared;
  thread_ = thread;
  random_ = random_stream(seed, thread);
}

bool value_visitor::put(std::uint32_t value) {
  action_ = action::insert;
  value_ = value;
  fresh_ = fresh_item();
  if (fresh_ == nullptr) return false;
  done_ = set_->insert(fresh_);
  settle_insertion();
  return true;
}

value_visitor::action value_visitor::draw_action() noexcept {
  const std::uint64_t reads = 2 * set_->shape().reads;
  const std::uint64_t drawn = random_.below(200);
  if (drawn < reads) return action::find;
  if (drawn < 100 + set_->shape().reads) return action::insert;
  // A thread that has nothing left to remove inserts something.
  return set_->shape().removes_own && own_.empty() ? action::insert : action::remove;
}

item* value_visitor::fresh_item() noexcept {
  item* const made = take_item(set_->shape().aligned);
  if (made == nullptr) {
    starved_ = true;
    return nullptr;
  }
  *made = {.value = value_, .thread = thread_, .number = inserted_};
  return made;
}

section_list value_visitor::draw() {
  action_ = draw_action();
  value_ = static_cast<std::uint32_t>(random_.below(set_->shape().values));
  done_ = false;
  if (action_ == action::remove && set_->shape().removes_own) {
    value_ = own_.front();
    own_.pop_front();
  }
  if (action_ == action::insert && !set_->shape().allocates_inside) fresh_ = fresh_item();
  return {1, {set_->lock_of(value_)}};
}

void value_visitor::apply(unsigned) {
  const bool allocates = set_->shape().allocates_inside;
  switch (action_) {
    case action::find:
      done_ = set_->find(value_);
      break;
    case action::insert:
      if (allocates) fresh_ = fresh_item();
      done_ = fresh_ != nullptr && set_->insert(fresh_);
      if (allocates && !done_) give_fresh();
      break;
    case action::remove:
      gone_ = set_->remove(value_);
      done_ = gone_ != nullptr;
      if (allocates) give_gone();
      break;
  }
}

void value_visitor::warm(unsigned, warm_memory& memory) { set_->foretell(value_, action_ != action::find, memory); }

void value_visitor::give_fresh() noexcept {
  give_item(fresh_);
  fresh_ = nullptr;
}

void value_visitor::give_gone() noexcept {
  give_item(gone_);
  gone_ = nullptr;
}

void value_visitor::settle() {
  if (action_ == action::insert) settle_insertion();
  if (action_ == action::remove) settle_removal();
}

void value_visitor::settle_insertion() {
  if (!done_) return give_fresh();
  fresh_ = nullptr;
  ++inserted_;
  sum_ += hash_of(value_);
  if (set_->shape().removes_own) own_.push_back(value_);
}

void value_visitor::settle_removal() {
  give_gone();
  if (done_) {
    ++removed_;
    sum_ -= hash_of(value_);
  } else if (set_->shape().removes_own) {
    lost_own_ = true;
  }
}

// ---- all of them

value_set::value_set(const value_set_shape& shape, const plan& how) noexcept : shape_(shape), visitors_(how.threads) {
  if (!visitors_ok()) return;
  for (unsigned thread = 0; thread < how.threads; ++thread) visitors_[thread].start(*this, thread, how.seed);
}

bool value_set::fill(std::uint64_t seed) {
  random_stream random(seed, ~std::uint64_t{0});
  std::uint64_t filled = 0;
  while (filled < shape_.items) {
    value_visitor& next = visitors_[filled % visitors_.size()];
    const std::uint64_t before = next.inserted();
    if (!next.put(static_cast<std::uint32_t>(random.below(shape_.values)))) return false;
    filled += next.inserted() - before;
  }
  return true;
}

void value_set::give_all() noexcept {
  if (complaint() != nullptr) return;
  for (unsigned chain = 0; chain < chains(); ++chain) {
    for (item* one = first_of(chain); one != nullptr;) {
      item* const next = one->next;
      give_item(one);
      one = next;
    }
  }
}

const char* value_set::complaint() const {
  std::uint64_t items = 0;
  std::uint64_t sum = 0;
  for (const value_visitor& one : visitors_) {
    if (one.starved()) return no_memory;
    if (one.lost_own()) return "a thread did not find a value that it had inserted and nobody else removes";
    items += one.inserted() - one.removed();
    sum += one.sum();
  }
  std::vector<std::uint32_t> seen;
  for (unsigned chain = 0; chain < chains(); ++chain) {
    if (const char* const wrong = walk(chain, items, seen)) return wrong;
  }
  if (seen.size() != items) return "the number of items is not that of insertions minus removals";
  for (const std::uint32_t value : seen) sum -= hash_of(value);
  if (sum != 0) return "other values are there than were inserted and not removed";
  if (!shape_.unique) return nullptr;
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end() ? nullptr : "a value appears twice";
}

const char* value_set::walk(unsigned chain, std::uint64_t most, std::vector<std::uint32_t>& into) const {
  // Insertions go to the end, so those of a thread are in the order in which it made them.
  std::vector<std::uint64_t> next_number(visitors_.size(), 0);
  const item* before = nullptr;
  for (const item* one = first_of(chain); one != nullptr; before = one, one = one->next) {
    if (into.size() == most) return "there are more items than insertions minus removals, or links in a circle";
    if (const char* const wrong = wrong_at(chain, before, *one)) return wrong;
    if (one->value >= shape_.values) return "there is a value that nobody inserted";
    if (one->thread >= visitors_.size()) return "there is an item of a thread that does not exist";
    if (one->number < next_number[one->thread]) return "the items of a thread are not in the order of its insertions";
    next_number[one->thread] = one->number + 1;
    into.push_back(one->value);
  }
  return wrong_at_end(before);
}

std::uint64_t value_set::hash() const {
  running_hash all;
  for (unsigned chain = 0; chain < chains(); ++chain) {
    for (const item* one = first_of(chain); one != nullptr; one = one->next) all.add(one->value);
    all.add(~std::uint64_t{0});
  }
  return all.value();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
