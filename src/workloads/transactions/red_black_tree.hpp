// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/transactions/key_set.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions {

template <template <class> class Cell>
struct alignas(16) red_black_tree_node {
  Cell<std::int64_t> key{0};
  Cell<std::int64_t> value{0};
  Cell<red_black_tree_node*> parent{nullptr};
  Cell<red_black_tree_node*> left{nullptr};
  Cell<red_black_tree_node*> right{nullptr};
  Cell<bool> red{false};
};

/// A set of keys in a red-black tree (Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, chapter 13).
template <template <class> class Cell>
class red_black_tree : public key_set<red_black_tree<Cell>, red_black_tree_node<Cell>> {
  using base = key_set<red_black_tree, red_black_tree_node<Cell>>;
  friend base;
  using node = red_black_tree_node<Cell>;
  using base::shape;
  using link = Cell<node*> node::*;

 public:
  explicit red_black_tree(const shape_values& wanted) : base(wanted) {}
  red_black_tree(const red_black_tree&) = delete;
  red_black_tree& operator=(const red_black_tree&) = delete;

  static bool ok() noexcept { return true; }

  /// Called after the threads have ended.
  template <class System>
  void empty(System& system) {
    lone_access access;
    if (shape().inside) destroy_all(system, access.read(root_));
  }

  const char* complaint() {
    lone_access access;
    node* const root = access.read(root_);
    if (root != nullptr && access.read(root->red)) return "the root of the tree is red";
    std::int64_t count = 0;
    if (black_height(root, -1, static_cast<std::int64_t>(shape().size), count) < 0) {
      return "the tree's order, colours or black heights are wrong";
    }
    return base::complaint_of_count(count);
  }

  std::uint64_t hash() {
    lone_access access;
    running_hash all;
    add_keys(access.read(root_), all);
    return all.value();
  }

 private:
  static void add_keys(node* at, running_hash& into) {
    if (at == nullptr) return;
    lone_access access;
    add_keys(access.read(at->left), into);
    into.add(static_cast<std::uint64_t>(access.read(at->key)));
    add_keys(access.read(at->right), into);
  }

  template <class Access>
  node* find(Access& access, std::int64_t key) {
    node* at = access.read(root_);
    while (at != nullptr) {
      const std::int64_t here = access.read(at->key);
      if (here == key) return at;
      at = access.read(key < here ? at->left : at->right);
    }
    return nullptr;
  }

  template <class Access>
  bool contains(Access& access, std::int64_t key) {
    return find(access, key) != nullptr;
  }

  template <class Access>
  bool insert(Access& access, std::int64_t key, node* taken) {
    node* above = nullptr;
    node* at = access.read(root_);
    bool to_left = false;
    while (at != nullptr) {
      const std::int64_t here = access.read(at->key);
      if (here == key) return false;
      above = at;
      to_left = key < here;
      at = access.read(to_left ? at->left : at->right);
    }
    node* const fresh = node_of(access, taken);
    access.write(fresh->key, key);
    access.write(fresh->left, nullptr);
    access.write(fresh->right, nullptr);
    access.write(fresh->parent, above);
    access.write(fresh->red, true);
    if (above == nullptr) {
      access.write(root_, fresh);
    } else {
      access.write(to_left ? above->left : above->right, fresh);
    }
    mend_after_insertion(access, fresh);
    return true;
  }

  template <class Access>
  bool is_red(Access& access, node* one) {
    return one != nullptr && access.read(one->red);
  }

  /// `from`'s child on the one side takes its place; `from` becomes that child's child on the other side.
  template <class Access>
  void rotate(Access& access, node* from, link one_side, link other_side) {
    node* const up = access.read(from->*one_side);
    node* const moved = access.read(up->*other_side);
    access.write(from->*one_side, moved);
    if (moved != nullptr) access.write(moved->parent, from);
    replace(access, from, up);
    access.write(up->*other_side, from);
    access.write(from->parent, up);
  }
  /// Puts `fresh`, which may be null, in the place of `old`.
  template <class Access>
  void replace(Access& access, node* old, node* fresh) {
    node* const above = access.read(old->parent);
    if (above == nullptr) {
      access.write(root_, fresh);
    } else if (access.read(above->left) == old) {
      access.write(above->left, fresh);
    } else {
      access.write(above->right, fresh);
    }
    if (fresh != nullptr) access.write(fresh->parent, above);
  }

  template <class Access>
  void mend_after_insertion(Access& access, node* at) {
    for (;;) {
      node* above = access.read(at->parent);
      if (above == nullptr || !access.read(above->red)) break;
      node* const top = access.read(above->parent);  // black, because its child is red
      const bool on_left = access.read(top->left) == above;
      const link near = on_left ? &node::left : &node::right;
      const link far = on_left ? &node::right : &node::left;
      node* const uncle = access.read(top->*far);
      if (is_red(access, uncle)) {
        access.write(above->red, false);
        access.write(uncle->red, false);
        access.write(top->red, true);
        at = top;
        continue;
      }
      if (access.read(above->*far) == at) {
        rotate(access, above, far, near);
        above = at;
      }
      access.write(above->red, false);
      access.write(top->red, true);
      rotate(access, top, near, far);
      break;
    }
    node* const root = access.read(root_);
    if (access.read(root->red)) access.write(root->red, false);
  }

  template <class Access>
  node* remove(Access& access, std::int64_t key, bool destroys) {
    node* const gone = find(access, key);
    if (gone == nullptr) return nullptr;
    node* left = access.read(gone->left);
    node* right = access.read(gone->right);
    bool lost_black = !access.read(gone->red);
    node* hole_above = access.read(gone->parent);
    node* in_hole = left != nullptr ? left : right;
    if (left != nullptr && right != nullptr) {
      // The next greater node takes its place.
      node* next = right;
      while (node* const lower = access.read(next->left)) next = lower;
      in_hole = access.read(next->right);
      lost_black = !access.read(next->red);
      hole_above = next;
      if (next != right) {
        hole_above = access.read(next->parent);
        replace(access, next, in_hole);
        access.write(next->right, right);
        access.write(right->parent, next);
      }
      replace(access, gone, next);
      access.write(next->left, left);
      access.write(left->parent, next);
      access.write(next->red, access.read(gone->red));
    } else {
      replace(access, gone, in_hole);
    }
    if (lost_black) mend_after_removal(access, in_hole, hole_above);
    if (destroys) access.destroy(gone);
    return gone;
  }

  /// The paths through `at`, a child of `above`, have one black node too few.
  template <class Access>
  void mend_after_removal(Access& access, node* at, node* above) {
    while (above != nullptr && !is_red(access, at)) {
      const bool on_left = access.read(above->left) == at;
      const link near = on_left ? &node::left : &node::right;
      const link far = on_left ? &node::right : &node::left;
      node* sibling = access.read(above->*far);
      if (access.read(sibling->red)) {
        access.write(sibling->red, false);
        access.write(above->red, true);
        rotate(access, above, far, near);
        sibling = access.read(above->*far);
      }
      node* outer = access.read(sibling->*far);
      node* const inner = access.read(sibling->*near);
      if (!is_red(access, outer) && !is_red(access, inner)) {
        access.write(sibling->red, true);
        at = above;
        above = access.read(at->parent);
        continue;
      }
      if (!is_red(access, outer)) {
        access.write(inner->red, false);
        access.write(sibling->red, true);
        rotate(access, sibling, near, far);
        outer = sibling;
        sibling = inner;
      }
      access.write(sibling->red, access.read(above->red));
      access.write(above->red, false);
      access.write(outer->red, false);
      rotate(access, above, far, near);
      return;
    }
    if (at != nullptr && access.read(at->red)) access.write(at->red, false);
  }

  /// Less than 0: something is wrong.
  int black_height(node* at, std::int64_t above, std::int64_t below, std::int64_t& count) {
    if (at == nullptr) return 0;
    lone_access access;
    const std::int64_t key = access.read(at->key);
    node* const left = access.read(at->left);
    node* const right = access.read(at->right);
    const bool red = access.read(at->red);
    for (node* const child : {left, right}) {
      if (child == nullptr) continue;
      if (access.read(child->parent) != at || (red && access.read(child->red))) return -1;
    }
    const int height = black_height(left, above, key, count);
    if (key <= above || key >= below || height < 0 || height != black_height(right, key, below, count)) return -1;
    ++count;
    return height + (red ? 0 : 1);
  }

  template <class System>
  void destroy_all(System& system, node* at) {
    if (at == nullptr) return;
    lone_access access;
    destroy_all(system, access.read(at->left));
    destroy_all(system, access.read(at->right));
    system.write([&](auto& inner) { inner.destroy(at); });
  }

  Cell<node*> root_{nullptr};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions
