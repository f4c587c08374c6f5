// SPDX-License-Identifier: Apache-2.0
// The functions of lists and hash tables that libstdc++ has precompiled, with hooks.
#include <list>
#include <unordered_map>

// From the uninstrumented half: libstdc++'s own decision, made on a copy.
extern "C" std::size_t txsync_sim_next_bucket(float load, std::size_t* next_resize, std::size_t wanted);
extern "C" bool txsync_sim_need_rehash(float load, std::size_t* next_resize, std::size_t buckets, std::size_t elements,
                                       std::size_t more, std::size_t* grown);

namespace std::__detail {

void _List_node_base::_M_hook(_List_node_base* const before) noexcept {
  _M_next = before;
  _M_prev = before->_M_prev;
  before->_M_prev->_M_next = this;
  before->_M_prev = this;
}

void _List_node_base::_M_unhook() noexcept {
  _M_prev->_M_next = _M_next;
  _M_next->_M_prev = _M_prev;
}

void _List_node_base::_M_transfer(_List_node_base* const first, _List_node_base* const end) noexcept {
  if (this == end) return;
  _List_node_base* const last = end->_M_prev;
  first->_M_prev->_M_next = end;
  end->_M_prev = first->_M_prev;
  last->_M_next = this;
  first->_M_prev = _M_prev;
  _M_prev->_M_next = first;
  _M_prev = last;
}

void _List_node_base::_M_reverse() noexcept {
  _List_node_base* at = this;
  do {
    _List_node_base* const next = at->_M_next;
    at->_M_next = at->_M_prev;
    at->_M_prev = next;
    at = next;
  } while (at != this);
}

void _List_node_base::swap(_List_node_base& a, _List_node_base& b) noexcept {
  if (&a == &b) return;
  const bool a_was_empty = a._M_next == &a, b_was_empty = b._M_next == &b;
  _List_node_base* const next = a._M_next;
  _List_node_base* const previous = a._M_prev;
  auto take = [](_List_node_base& to, bool empty, _List_node_base* first, _List_node_base* last) {
    to._M_next = empty ? &to : first;
    to._M_prev = empty ? &to : last;
    to._M_next->_M_prev = &to;
    to._M_prev->_M_next = &to;
  };
  take(a, b_was_empty, b._M_next, b._M_prev);
  take(b, a_was_empty, next, previous);
}

size_t _Prime_rehash_policy::_M_next_bkt(size_t wanted) const {
  size_t next_resize = _M_next_resize;
  const size_t buckets = txsync_sim_next_bucket(_M_max_load_factor, &next_resize, wanted);
  _M_next_resize = next_resize;
  return buckets;
}

pair<bool, size_t> _Prime_rehash_policy::_M_need_rehash(size_t buckets, size_t elements, size_t more) const {
  // Most insertions end here, and write nothing that threads share.
  if (elements + more <= _M_next_resize) return {false, 0};
  size_t next_resize = _M_next_resize, grown = 0;
  const bool needed = txsync_sim_need_rehash(_M_max_load_factor, &next_resize, buckets, elements, more, &grown);
  _M_next_resize = next_resize;
  return {needed, grown};
}

}  // namespace std::__detail
