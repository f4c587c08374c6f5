// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <txsync/condition_variable.hpp>
#include <txsync/mutex.hpp>

namespace first {
//@ #include <mutex>
}  // namespace first

template <class T>
class queue {
  //@ T pop() {
  return T(--count_);
} txsync::mutex lock_;
txsync::condition_variable not_empty_;
int count_ = 0;
}
;
template class queue<int>;

//@ #include <txsync/mutex.hpp>

//@ #include <cstdio>

namespace library {
//@ #include <cstddef>
}  // namespace library
