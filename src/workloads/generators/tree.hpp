// SPDX-License-Identifier: Apache-2.0
// tree: a B+-tree under one lock. What a section will touch is only found by walking there. A prefetch before the lock
// cannot know it; warm-up can (txsync).
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/generators/structure.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// Three lines of 64 bytes. Inner nodes have count keys and count + 1 children; child i holds the keys from keys[i-1]
/// (included) to keys[i]. Leaves have count keys and a value for each. Leaves that become empty stay.
struct alignas(64) tree_node {
  static constexpr unsigned most = 14;

  std::uint32_t count = 0;
  std::uint32_t leaf = 1;
  std::uint32_t keys[most] = {};
  union {
    tree_node* children[most + 1];
    std::uint64_t values[most + 1] = {};
  };
};
static_assert(sizeof(tree_node) == 192);

class key_tree;

/// A thread that looks up, inserts and erases.
class alignas(machine::pad_bytes) tree_visitor final : public visitor {
 public:
  enum class action : std::uint8_t { find, insert, erase };

  ~tree_visitor();
  void start(key_tree& shared, unsigned thread, std::uint64_t seed) noexcept;

  section_list draw() override;
  void apply(unsigned section) override;
  void warm(unsigned section, warm_memory& memory) override;
  void settle() override;

  std::uint64_t inserted() const noexcept { return inserted_; }
  std::uint64_t erased() const noexcept { return erased_; }
  bool starved() const noexcept { return starved_; }
  bool misled() const noexcept { return misled_; }

  /// Takes as many nodes as an insertion may need. False if there is no memory.
  bool stock_up() noexcept;
  /// Returns one of them, for an insertion.
  tree_node* use_spare() noexcept { return spare_[--spares_]; }

 private:
  static constexpr unsigned max_spare = 12;  // enough for a split at every level of any tree that fits

  key_tree* tree_ = nullptr;
  random_stream random_{0, 0};
  action action_ = action::find;
  std::uint32_t key_ = 0;
  bool done_ = false;
  unsigned spares_ = 0;
  tree_node* spare_[max_spare] = {};
  std::uint64_t inserted_ = 0;
  std::uint64_t erased_ = 0;
  bool starved_ = false;
  bool misled_ = false;  ///< found a value that does not belong to its key
};

class key_tree final : public structure {
 public:
  key_tree(const parameters& values, const plan& how);
  ~key_tree() override;
  bool ok() const noexcept { return filled_; }

  std::uint64_t locks() const noexcept override { return 1; }
  visitor& visitor_of(unsigned thread) noexcept override { return visitors_[thread]; }
  const char* complaint() const override;
  std::uint64_t hash() const override;

  std::uint64_t keys() const noexcept { return keys_; }
  std::uint64_t find_percent() const noexcept { return find_; }
  std::uint64_t insert_percent() const noexcept { return insert_; }

  static std::uint64_t value_of(std::uint32_t key) noexcept { return ~std::uint64_t{key}; }

  // In a section:
  /// The value, or 0, which belongs to no key.
  std::uint64_t find(std::uint32_t key) noexcept;
  bool insert(std::uint32_t key, tree_visitor& who) noexcept;
  bool erase(std::uint32_t key) noexcept;
  /// The leaf that has the key, or would have it. Null if the memory is speculative and the walk has lost its way.
  template <class Memory>
  tree_node* leaf_of(std::uint32_t key, Memory& memory) noexcept;

  // For tests of complaint():
  tree_node& root() noexcept { return *root_; }

 private:
  /// What a walk over all nodes finds.
  struct findings {
    std::uint64_t seen = 0;
    std::uint64_t most = 0;
    const char* fault = nullptr;
    running_hash all{};
  };
  void split_child(tree_node& parent, unsigned which, tree_visitor& who) noexcept;
  tree_node* make_room(std::uint32_t key, tree_visitor& who) noexcept;
  static void walk(const tree_node& node, std::uint64_t from, std::uint64_t to, unsigned depth, findings& into);
  bool fill(std::uint64_t seed);
  static bool add_level(std::vector<tree_node*>& level, unsigned children);
  static void give_all(tree_node* node) noexcept;

  std::uint64_t keys_;
  std::uint64_t find_;
  std::uint64_t insert_;
  tree_node* root_ = nullptr;
  page_array<tree_visitor> visitors_;
  std::uint64_t at_start_ = 0;
  bool filled_ = false;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
