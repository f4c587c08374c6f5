// SPDX-License-Identifier: Apache-2.0
// The functions of red-black trees that libstdc++ has precompiled for std::map and std::set: the same contract, with
// hooks. Compiled like user code, and renamed like user code's references to them.
#include <bits/stl_tree.h>

namespace std {
namespace {

using node = _Rb_tree_node_base;

bool is_red(const node* at) { return at && at->_M_color == _S_red; }
node*& child(node* at, bool right) { return right ? at->_M_right : at->_M_left; }

node* outermost(node* at, bool right) {
  while (child(at, right)) at = child(at, right);
  return at;
}

// The header is above the root: its parent is the root, its left and right are the first and the last node.
void replace_child(node* header, node* old, node* by) {
  node* parent = old->_M_parent;
  if (parent == header) {
    header->_M_parent = by;
  } else {
    child(parent, parent->_M_right == old) = by;
  }
  if (by) by->_M_parent = parent;
}

// Rotates the tree at `top` to the right or left; the child of the other side moves up.
void rotate(node* header, node* top, bool right) {
  node* rising = child(top, !right);
  node* moved = child(rising, right);
  replace_child(header, top, rising);
  child(top, !right) = moved;
  if (moved) moved->_M_parent = top;
  child(rising, right) = top;
  top->_M_parent = rising;
}

// Mends a red node under a red one, or passes the problem on to the grandparent.
void mend_red(node* header, node* at) {
  while (at != header->_M_parent && is_red(at->_M_parent)) {
    node* parent = at->_M_parent;
    node* grandparent = parent->_M_parent;
    const bool right = parent == grandparent->_M_right;
    node* uncle = child(grandparent, !right);
    if (is_red(uncle)) {
      parent->_M_color = _S_black;
      uncle->_M_color = _S_black;
      grandparent->_M_color = _S_red;
      at = grandparent;
      continue;
    }
    if (at == child(parent, !right)) {
      rotate(header, parent, right);
      parent = at;
    }
    parent->_M_color = _S_black;
    grandparent->_M_color = _S_red;
    rotate(header, grandparent, !right);
    break;
  }
  header->_M_parent->_M_color = _S_black;
}

// The paths through `at` lack a black node. `at` is a child of `parent` on side `right`, and may be null.
void mend_black(node* header, node* at, node* parent, bool right) {
  while (at != header->_M_parent && !is_red(at)) {
    node* sibling = child(parent, !right);
    if (is_red(sibling)) {
      sibling->_M_color = _S_black;
      parent->_M_color = _S_red;
      rotate(header, parent, right);
      sibling = child(parent, !right);
    }
    if (!is_red(sibling->_M_left) && !is_red(sibling->_M_right)) {
      sibling->_M_color = _S_red;
      at = parent;
      parent = at->_M_parent;
      right = at == parent->_M_right;
      continue;
    }
    if (!is_red(child(sibling, !right))) {
      child(sibling, right)->_M_color = _S_black;
      sibling->_M_color = _S_red;
      rotate(header, sibling, !right);
      sibling = child(parent, !right);
    }
    sibling->_M_color = parent->_M_color;
    parent->_M_color = _S_black;
    child(sibling, !right)->_M_color = _S_black;
    rotate(header, parent, right);
    break;
  }
  if (at) at->_M_color = _S_black;
}

node* next(node* at, bool right) {
  if (child(at, right)) return outermost(child(at, right), !right);
  node* parent = at->_M_parent;
  while (at == child(parent, right)) {
    at = parent;
    parent = parent->_M_parent;
  }
  // If the root has no child on this side, a climb from the last node ends one step above the header.
  return child(at, right) == parent ? at : parent;
}

}  // namespace

node* _Rb_tree_increment(node* at) throw() { return next(at, true); }
const node* _Rb_tree_increment(const node* at) throw() { return next(const_cast<node*>(at), true); }
node* _Rb_tree_decrement(node* at) throw() {
  // This is the header, which is red: the last node comes before the end.
  if (at->_M_color == _S_red && at->_M_parent->_M_parent == at) return at->_M_right;
  return next(at, false);
}
const node* _Rb_tree_decrement(const node* at) throw() { return _Rb_tree_decrement(const_cast<node*>(at)); }

void _Rb_tree_insert_and_rebalance(const bool left, node* fresh, node* parent, node& head) throw() {
  node* header = &head;
  fresh->_M_parent = parent;
  fresh->_M_left = nullptr;
  fresh->_M_right = nullptr;
  fresh->_M_color = _S_red;
  if (parent == header) {
    header->_M_parent = fresh;
    header->_M_left = fresh;
    header->_M_right = fresh;
  } else {
    child(parent, !left) = fresh;
    node*& end = child(header, !left);
    if (end == parent) end = fresh;
  }
  mend_red(header, fresh);
}

node* _Rb_tree_rebalance_for_erase(node* const gone, node& head) throw() {
  node* header = &head;
  if (header->_M_left == gone) header->_M_left = gone->_M_right ? outermost(gone->_M_right, false) : gone->_M_parent;
  if (header->_M_right == gone) header->_M_right = gone->_M_left ? outermost(gone->_M_left, true) : gone->_M_parent;

  // If `gone` has two children, the next node takes its place and colour. Then a position further down loses a node.
  node* taken = gone->_M_left && gone->_M_right ? outermost(gone->_M_right, false) : gone;
  node* rising = taken->_M_left ? taken->_M_left : taken->_M_right;
  node* parent = taken->_M_parent;
  const bool right = parent == header ? false : parent->_M_right == taken;
  const _Rb_tree_color lost = taken->_M_color;
  replace_child(header, taken, rising);
  if (taken != gone) {
    if (parent == gone) parent = taken;
    taken->_M_color = gone->_M_color;
    replace_child(header, gone, taken);
    taken->_M_left = gone->_M_left;
    taken->_M_left->_M_parent = taken;
    taken->_M_right = gone->_M_right;
    if (taken->_M_right) taken->_M_right->_M_parent = taken;
  }
  if (lost == _S_black) mend_black(header, rising, parent, right);
  return gone;
}

}  // namespace std
