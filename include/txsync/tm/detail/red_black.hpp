// SPDX-License-Identifier: Apache-2.0
// Red-black trees (Guibas and Sedgewick, "A dichromatic framework for balanced trees", 1978). The nodes do not know
// their parents: changes follow the path that was walked from the root.
#pragma once

#include <cstddef>

#include <txsync/tm/transaction.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

inline constexpr unsigned red_black_left = 0;
inline constexpr unsigned red_black_right = 1;

/// The links of a node; its base class.
template <class Node>
class red_black_links {
 public:
  var<Node*> child[2];
  var<bool> red{true};

 private:
  friend Node;
  red_black_links() noexcept = default;
};

/// The path from a root to a link of the tree, which is its end. A node's index on the path is its depth.
template <class Node>
class red_black_path {
 public:
  /// A tree of that many levels would have more nodes than fit in memory.
  static constexpr std::size_t max_levels = 96;

  explicit red_black_path(var<Node*>& root) noexcept : root_(&root) {}

  /// The node at the end of the path, or null.
  template <class Tx>
  Node* read_end(Tx& tx) const {
    return tx.read(link(depth_));
  }
  /// Extends the path, from the node at its end, to the link on that side.
  void go(Node* at, unsigned side) noexcept { steps_[depth_++] = {at, side}; }

  /// Inserts `fresh` at the end of the path. Requires: no node is there.
  template <class Tx>
  void insert(Tx& tx, Node* fresh) {
    tx.write(link(depth_), fresh);
    Node* at = fresh;  // red, and the only one whose parent may be red too
    while (depth_ > 1 && tx.read(parent()->red)) {
      Node* const grand = steps_[depth_ - 2].at;
      const unsigned side = steps_[depth_ - 2].side;
      Node* const uncle = tx.read(grand->child[1 - side]);
      if (uncle == nullptr || !tx.read(uncle->red)) return straighten(tx, grand, side);
      tx.write(parent()->red, false);
      tx.write(uncle->red, false);
      tx.write(grand->red, true);
      at = grand;
      depth_ -= 2;
    }
    if (depth_ == 0) tx.write(at->red, false);  // the root is black
  }

  /// Removes `gone` from the tree; the node itself does not change. Requires: it is at the end of the path.
  template <class Tx>
  void erase(Tx& tx, Node* gone) {
    Node* const lower = tx.read(gone->child[red_black_left]);
    Node* const upper = tx.read(gone->child[red_black_right]);
    const bool was_red = tx.read(gone->red);
    if (lower != nullptr && upper != nullptr) return replace_by_next(tx, gone, lower, upper, was_red);
    Node* const only = lower != nullptr ? lower : upper;
    tx.write(link(depth_), only);
    if (!was_red) add_black(tx, only);
  }

  /// Null, or a text that says what is wrong with the colours.
  template <class Tx>
  static const char* check(Tx& tx, const var<Node*>& root) {
    Node* const top = tx.read(root);
    if (top != nullptr && tx.read(top->red)) return "the root is red";
    const char* fault = nullptr;
    static_cast<void>(black_height(tx, top, false, fault));
    return fault;
  }

 private:
  struct step {
    Node* at;
    unsigned side;
  };

  Node* parent() const noexcept { return steps_[depth_ - 1].at; }
  /// The link to the node of that depth.
  var<Node*>& link(std::size_t depth) const noexcept {
    return depth == 0 ? *root_ : steps_[depth - 1].at->child[steps_[depth - 1].side];
  }

  /// `top`'s child on the other side takes its place, and `top` moves down to `side`.
  template <class Tx>
  static Node* rotate(Tx& tx, var<Node*>& to_top, Node* top, unsigned side) {
    Node* const raised = tx.read(top->child[1 - side]);
    tx.write(top->child[1 - side], tx.read(raised->child[side]));
    tx.write(raised->child[side], top);
    tx.write(to_top, raised);
    return raised;
  }

  /// Requires: the node at the end and its parent are red, its uncle is black.
  template <class Tx>
  void straighten(Tx& tx, Node* grand, unsigned side) {
    if (steps_[depth_ - 1].side != side) rotate(tx, grand->child[side], parent(), side);
    Node* const top = rotate(tx, link(depth_ - 2), grand, 1 - side);
    tx.write(top->red, false);
    tx.write(grand->red, true);
  }

  /// The node with the next key takes the place and the colour of `gone`.
  template <class Tx>
  void replace_by_next(Tx& tx, Node* gone, Node* lower, Node* upper, bool was_red) {
    const std::size_t place = depth_;
    go(gone, red_black_right);
    Node* next = upper;
    for (Node* further = tx.read(next->child[red_black_left]); further != nullptr;
         further = tx.read(next->child[red_black_left])) {
      go(next, red_black_left);
      next = further;
    }
    const bool next_was_red = tx.read(next->red);
    Node* const only = tx.read(next->child[red_black_right]);
    if (next != upper) {
      tx.write(link(depth_), only);
      tx.write(next->child[red_black_right], upper);
    }
    tx.write(next->child[red_black_left], lower);
    if (next_was_red != was_red) tx.write(next->red, was_red);
    tx.write(link(place), next);
    steps_[place].at = next;
    if (!next_was_red) add_black(tx, only);
  }

  /// Every path below the end, where `at` is, lacks one black node.
  template <class Tx>
  void add_black(Tx& tx, Node* at) {
    while (at == nullptr || !tx.read(at->red)) {
      if (depth_ == 0) return;
      if (take_from_sibling(tx)) return;
      at = parent();
      --depth_;
    }
    tx.write(at->red, false);
  }
  /// False: the lack has moved up by a level.
  template <class Tx>
  bool take_from_sibling(Tx& tx) {
    Node* const above = parent();
    const unsigned side = steps_[depth_ - 1].side;
    Node* sibling = tx.read(above->child[1 - side]);
    if (tx.read(sibling->red)) {
      tx.write(sibling->red, false);
      tx.write(above->red, true);
      rotate(tx, link(depth_ - 1), above, side);
      steps_[depth_ - 1] = {sibling, side};
      go(above, side);
      sibling = tx.read(above->child[1 - side]);
    }
    Node* const near = tx.read(sibling->child[side]);
    Node* far = tx.read(sibling->child[1 - side]);
    const bool near_is_red = near != nullptr && tx.read(near->red);
    const bool far_is_red = far != nullptr && tx.read(far->red);
    if (!near_is_red && !far_is_red) {
      tx.write(sibling->red, true);
      return false;
    }
    if (!far_is_red) {
      far = sibling;  // which is black
      sibling = rotate(tx, above->child[1 - side], sibling, 1 - side);
    } else {
      tx.write(far->red, false);
    }
    const bool above_was_red = tx.read(above->red);
    if (tx.read(sibling->red) != above_was_red) tx.write(sibling->red, above_was_red);
    if (above_was_red) tx.write(above->red, false);
    rotate(tx, link(depth_ - 1), above, side);
    return true;
  }

  /// The number of black nodes on each path down from `top`. Recursive, because the height is bounded.
  template <class Tx>
  static std::size_t black_height(Tx& tx, const Node* top, bool below_red, const char*& fault) {
    if (top == nullptr) return 0;
    const bool red = tx.read(top->red);
    if (red && below_red) fault = "a red node has a red child";
    const std::size_t lower = black_height(tx, tx.read(top->child[red_black_left]), red, fault);
    const std::size_t upper = black_height(tx, tx.read(top->child[red_black_right]), red, fault);
    if (lower != upper) fault = "the ways down have different numbers of black nodes";
    return lower + (red ? 0 : 1);
  }

  var<Node*>* root_;
  std::size_t depth_ = 0;
  step steps_[max_levels];
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
