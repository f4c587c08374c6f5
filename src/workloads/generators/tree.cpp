// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/tree.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum tree_key : unsigned { tree_keys, tree_finds, tree_inserts, tree_erases };

constexpr parameter tree_parameters[] = {
    {"keys", 100'000, 2, 100'000'000, "size of the key space; half of it is in the tree at the start"},
    {"find", 80, 0, 100, "percent of operations that look a key up"},
    {"insert", 10, 0, 100, "percent of operations that insert a key"},
    {"erase", 10, 0, 100, "percent of operations that erase a key"},
};

constexpr setting small_tree[] = {{"keys", 10'000}};
constexpr setting large_10[] = {{"keys", 10'000'000}, {"find", 80}, {"insert", 10}, {"erase", 10}};
constexpr setting large_50[] = {{"keys", 10'000'000}, {"find", 0}, {"insert", 50}, {"erase", 50}};

constexpr preset tree_presets[] = {
    {"10k-10", "txsync: as mapbench's, which is the always-abort paper's, Fig 8", small_tree},
    {"10m-10", "txsync: as mapbench's, 10 M keys, 10 % writes", large_10},
    {"10m-50", "txsync: as mapbench's, 10 M keys, 50 % writes", large_50},
};

const char* tree_contradiction(const parameters& values) noexcept {
  const bool hundred = values[tree_finds] + values[tree_inserts] + values[tree_erases] == 100;
  return hundred ? nullptr : "find, insert and erase are percentages and must add up to 100";
}

constexpr unsigned deepest = 40;

tree_node* take_node() noexcept {
  void* const place = std::aligned_alloc(alignof(tree_node), sizeof(tree_node));
  return place != nullptr ? new (place) tree_node : nullptr;
}
void give_node(tree_node* one) noexcept { std::free(one); }

/// The first of a node's keys that is greater: the index of the child to go to. Bounded, whatever the node's count is.
template <class Memory>
unsigned child_for(tree_node& node, std::uint32_t key, Memory& memory) noexcept {
  const unsigned count = std::min<unsigned>(memory.load(node.count), tree_node::most);
  unsigned i = 0;
  while (i < count && memory.load(node.keys[i]) <= key) ++i;
  return i;
}

unsigned place_in(const tree_node& leaf, std::uint32_t key) noexcept {
  return static_cast<unsigned>(std::lower_bound(leaf.keys, leaf.keys + leaf.count, key) - leaf.keys);
}
bool holds(const tree_node& leaf, unsigned place, std::uint32_t key) noexcept {
  return place < leaf.count && leaf.keys[place] == key;
}

void put(tree_node& leaf, unsigned place, std::uint32_t key) noexcept {
  for (unsigned i = leaf.count; i > place; --i) {
    leaf.keys[i] = leaf.keys[i - 1];
    leaf.values[i] = leaf.values[i - 1];
  }
  leaf.keys[place] = key;
  leaf.values[place] = key_tree::value_of(key);
  ++leaf.count;
}

std::uint32_t min_key(const tree_node& node) noexcept {
  const tree_node* at = &node;
  while (at->leaf == 0) at = at->children[0];
  return at->keys[0];
}

}  // namespace

constinit const workload tree_workload{
    .name = "tree",
    .summary = "lookups, insertions and erasures in a B+-tree under one lock",
    .operation = "operations",
    .keys = tree_parameters,
    .presets = tree_presets,
    .contradiction = tree_contradiction,
};

std::unique_ptr<structure> make_tree(const parameters& values, const plan& how) {
  auto made = std::make_unique<key_tree>(values, how);
  return made->ok() ? std::move(made) : nullptr;
}

// ---- a thread

tree_visitor::~tree_visitor() {
  while (spares_ != 0) give_node(use_spare());
}

void tree_visitor::start(key_tree& shared, unsigned thread, std::uint64_t seed) noexcept {
  tree_ = &shared;
  random_ = random_stream(seed, thread);
}

bool tree_visitor::stock_up() noexcept {
  while (spares_ < max_spare) {
    tree_node* const fresh = take_node();
    if (fresh == nullptr) {
      starved_ = true;
      return false;
    }
    spare_[spares_++] = fresh;
  }
  return true;
}

section_list tree_visitor::draw() {
  const std::uint64_t percent = random_.below(100);
  action_ = percent < tree_->find_percent()                             ? action::find
            : percent < tree_->find_percent() + tree_->insert_percent() ? action::insert
                                                                        : action::erase;
  key_ = static_cast<std::uint32_t>(random_.below(tree_->keys()));
  if (action_ == action::insert && !stock_up()) action_ = action::find;
  return {1, {0}};
}

void tree_visitor::apply(unsigned) {
  switch (action_) {
    case action::find: {
      const std::uint64_t value = tree_->find(key_);
      misled_ = misled_ || (value != 0 && value != key_tree::value_of(key_));
      break;
    }
    case action::insert:
      done_ = tree_->insert(key_, *this);
      break;
    case action::erase:
      done_ = tree_->erase(key_);
      break;
  }
}

void tree_visitor::warm(unsigned, warm_memory& memory) {
  tree_node* const leaf = tree_->leaf_of(key_, memory);
  if (leaf == nullptr) return;
  memory.fetch(leaf, sizeof *leaf);
  if (action_ != action::find) memory.store(leaf->count, 0);
}

void tree_visitor::settle() {
  if (action_ == action::insert && done_) ++inserted_;
  if (action_ == action::erase && done_) ++erased_;
  done_ = false;
}

// ---- the tree

key_tree::key_tree(const parameters& values, const plan& how)
    : keys_(values[tree_keys]),
      find_(values[tree_finds]),
      insert_(values[tree_inserts]),
      root_(take_node()),
      visitors_(how.threads) {
  if (root_ == nullptr || !visitors_.ok()) return;
  for (unsigned thread = 0; thread < how.threads; ++thread) visitors_[thread].start(*this, thread, how.seed);
  filled_ = fill(how.seed);
}

key_tree::~key_tree() { give_all(root_); }

void key_tree::give_all(tree_node* node) noexcept {
  if (node == nullptr) return;
  for (unsigned i = 0; node->leaf == 0 && i <= node->count; ++i) give_all(node->children[i]);
  give_node(node);
}

/// Inserts half of the keys, all equally likely. The leaves are partly full and anywhere in memory: neighbours in the
/// tree are not neighbours in memory.
bool key_tree::fill(std::uint64_t seed) {
  constexpr unsigned filled = 10;
  at_start_ = keys_ / 2;
  random_stream random(seed, ~std::uint64_t{0});
  std::vector<tree_node*> level((at_start_ + filled - 1) / filled);
  for (tree_node*& one : level) {
    one = take_node();
    if (one == nullptr) return false;  // what exists of it is discarded with the run
  }
  for (std::uint64_t i = level.size(); i > 1; --i) std::swap(level[i - 1], level[random.below(i)]);
  std::uint64_t chosen = 0;
  for (std::uint64_t key = 0; chosen < at_start_; ++key) {
    // Selection sampling: Knuth, The Art of Computer Programming, vol. 2, 3.4.2, algorithm S.
    if (random.below(keys_ - key) >= at_start_ - chosen) continue;
    tree_node& leaf = *level[chosen++ / filled];
    put(leaf, leaf.count, static_cast<std::uint32_t>(key));
  }
  while (level.size() > 1) {
    if (!add_level(level, filled)) return false;
  }
  if (!level.empty()) give_node(std::exchange(root_, level[0]));
  return true;
}

/// Makes nodes above those of `level`, which is then replaced by the new ones.
bool key_tree::add_level(std::vector<tree_node*>& level, unsigned children) {
  std::vector<tree_node*> above;
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (i % children == 0) {
      above.push_back(take_node());
      if (above.back() == nullptr) return false;
      above.back()->leaf = 0;
      above.back()->children[0] = level[i];
      continue;
    }
    tree_node& parent = *above.back();
    parent.keys[parent.count++] = min_key(*level[i]);
    parent.children[parent.count] = level[i];
  }
  level = std::move(above);
  return true;
}

template <class Memory>
tree_node* key_tree::leaf_of(std::uint32_t key, Memory& memory) noexcept {
  tree_node* at = memory.load(root_);
  for (unsigned depth = 0; at != nullptr && depth < deepest; ++depth) {
    if (memory.load(at->leaf) != 0) return at;
    at = memory.load(at->children[child_for(*at, key, memory)]);
  }
  return nullptr;
}

std::uint64_t key_tree::find(std::uint32_t key) noexcept {
  section_memory memory;
  const tree_node& leaf = *leaf_of(key, memory);
  const unsigned place = place_in(leaf, key);
  return holds(leaf, place, key) ? leaf.values[place] : 0;
}

bool key_tree::erase(std::uint32_t key) noexcept {
  section_memory memory;
  tree_node& leaf = *leaf_of(key, memory);
  const unsigned place = place_in(leaf, key);
  if (!holds(leaf, place, key)) return false;
  --leaf.count;
  for (unsigned i = place; i < leaf.count; ++i) {
    leaf.keys[i] = leaf.keys[i + 1];
    leaf.values[i] = leaf.values[i + 1];
  }
  return true;
}

bool key_tree::insert(std::uint32_t key, tree_visitor& who) noexcept {
  section_memory memory;
  tree_node* leaf = leaf_of(key, memory);
  const unsigned place = place_in(*leaf, key);
  if (holds(*leaf, place, key)) return false;
  if (leaf->count == tree_node::most) leaf = make_room(key, who);
  put(*leaf, place_in(*leaf, key), key);
  return true;
}

/// Splits full nodes on the way from the root to the key's leaf, and returns that leaf.
tree_node* key_tree::make_room(std::uint32_t key, tree_visitor& who) noexcept {
  section_memory memory;
  if (root_->count == tree_node::most) {
    tree_node* const above = who.use_spare();
    above->leaf = 0;
    above->children[0] = root_;
    root_ = above;
  }
  tree_node* at = root_;
  while (at->leaf == 0) {
    unsigned which = child_for(*at, key, memory);
    if (at->children[which]->count == tree_node::most) {
      split_child(*at, which, who);
      which = child_for(*at, key, memory);
    }
    at = at->children[which];
  }
  return at;
}

void key_tree::split_child(tree_node& parent, unsigned which, tree_visitor& who) noexcept {
  tree_node& left = *parent.children[which];
  tree_node& right = *who.use_spare();
  constexpr unsigned half = tree_node::most / 2;
  right.leaf = left.leaf;
  const std::uint32_t boundary = left.keys[half];
  // The boundary itself moves up from an inner node, but stays in a leaf.
  const unsigned from = left.leaf != 0 ? half : half + 1;
  right.count = tree_node::most - from;
  for (unsigned i = 0; i < right.count; ++i) right.keys[i] = left.keys[from + i];
  const unsigned slots = left.leaf != 0 ? right.count : right.count + 1;
  for (unsigned i = 0; i < slots; ++i) right.values[i] = left.values[from + i];
  left.count = half;
  for (unsigned i = parent.count; i > which; --i) {
    parent.keys[i] = parent.keys[i - 1];
    parent.children[i + 1] = parent.children[i];
  }
  parent.keys[which] = boundary;
  parent.children[which + 1] = &right;
  ++parent.count;
}

// ---- the check

/// All keys of `node` must be at least `from` and below `to`.
void key_tree::walk(const tree_node& node, std::uint64_t from, std::uint64_t to, unsigned depth, findings& into) {
  if (into.fault != nullptr) return;
  if (depth == deepest || node.count > tree_node::most) {
    into.fault = "a node of the tree is deeper or fuller than there can be any";
    return;
  }
  std::uint64_t low = from;
  for (unsigned i = 0; i < node.count; ++i) {
    const std::uint64_t key = node.keys[i];
    if (node.leaf == 0 && node.children[i] != nullptr) walk(*node.children[i], low, key, depth + 1, into);
    if (key < low || key >= to) into.fault = "the keys of the tree are not in order";
    if (node.leaf != 0) {
      if (node.values[i] != value_of(node.keys[i]))
        into.fault = "the tree holds a value that does not belong to its key";
      if (++into.seen > into.most) into.fault = "the tree holds more keys than insertions minus erasures";
      into.all.add(key);
    }
    if (into.fault != nullptr) return;
    low = node.leaf != 0 ? key + 1 : key;
  }
  if (node.leaf == 0 && node.children[node.count] != nullptr)
    walk(*node.children[node.count], low, to, depth + 1, into);
}

const char* key_tree::complaint() const {
  std::uint64_t expected = at_start_;
  for (const tree_visitor& one : visitors_) {
    if (one.starved()) return no_memory;
    if (one.misled()) return "a thread found a value that does not belong to its key";
    expected += one.inserted() - one.erased();
  }
  findings found{.most = expected};
  walk(*root_, 0, keys_, 0, found);
  if (found.fault != nullptr) return found.fault;
  return found.seen == expected ? nullptr : "the tree holds fewer keys than insertions minus erasures";
}

std::uint64_t key_tree::hash() const {
  findings found{.most = ~std::uint64_t{0}};
  walk(*root_, 0, keys_, 0, found);
  return found.all.value();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
