// SPDX-License-Identifier: Apache-2.0
// What the body of an atomic block is given: the accesses to memory that are part of the block, and what else it may
// do.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <txsync/export.hpp>
#include <txsync/locks/timed.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/tm/detail/engine.hpp>
#include <txsync/tm/var.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

class transaction;
class direct_transaction;

namespace detail {

class runner;
class transaction_engine;

/// An alternative of or_else(), and the body of a block, without their types.
using erased_code = void (*)(void* data, transaction& tx);

[[noreturn]] TXSYNC_EXPORT void retry(engine& me, std::uint64_t deadline_ns);
TXSYNC_EXPORT void retry_until(engine& me, std::uint64_t deadline_ns);
[[noreturn]] TXSYNC_EXPORT void restart_irrevocable(engine& me);
[[noreturn]] TXSYNC_EXPORT void refuse_outside() noexcept;
/// False: the first alternative ended with retry(), and has left nothing behind.
TXSYNC_EXPORT bool run_alternative(engine& me, erased_code first, void* data);
using destructor = void (*)(void* object) noexcept;
/// Takes memory for an object. Throws std::bad_alloc.
TXSYNC_EXPORT void* take_memory(engine& me, std::size_t bytes, std::size_t alignment);
/// The object in that memory has been constructed (keep_made), or its construction has failed (forget_made).
TXSYNC_EXPORT void keep_made(engine& me, void* object, destructor destroy) noexcept;
TXSYNC_EXPORT void forget_made(engine& me, void* object) noexcept;
/// Destroys the object at the end of the block. Throws std::bad_alloc.
TXSYNC_EXPORT void give_memory(engine& me, void* object, destructor destroy);
TXSYNC_EXPORT void free_unshared(void* object, destructor destroy) noexcept;
TXSYNC_EXPORT void add_action(engine& me, growing_log<txsync::detail::deferred_action>& list,
                              const txsync::detail::deferred_action& action);
TXSYNC_EXPORT void privatize(engine& me) noexcept;
// In the library, because a program that includes these headers may be compiled without exceptions:
// std::bad_array_new_length and std::out_of_range then end it.
[[noreturn]] TXSYNC_EXPORT void throw_too_long();
[[noreturn]] TXSYNC_EXPORT void throw_no_such_element();
template <class T>
concept array_element = std::is_trivially_destructible_v<T> && std::is_nothrow_default_constructible_v<T> &&
                        alignof(T) <= alignof(std::max_align_t);

template <class T>
void destroy(void* object) noexcept {
  std::destroy_at(static_cast<T*>(object));
}
/// Null where there is nothing to do.
template <class T>
constexpr destructor destroyer() noexcept {
  if constexpr (std::is_trivially_destructible_v<T>) {
    return nullptr;
  } else {
    return destroy<T>;
  }
}

/// What both kinds of transaction offer. A body is given one or the other: take it as `auto& tx`.
///
/// For all functions: only the block's thread calls them, within the body. Those that are not noexcept may leave the
/// body by a jump and run it anew. The body does not notice that, and its local variables with destructors are then not
/// destroyed. So keep what owns memory outside of the body, or get it from make(). These functions throw std::bad_alloc
/// if there is no memory for the transaction's records; the block is then undone, as after any exception.
template <class Self>
class transaction_base {
 public:
  /// The value of `place` as the block sees it. All that the block reads was valid at one moment, whether it commits in
  /// the end or not (opacity). Cost: two loads more than the value's, per word. Blocks that also write record the read.
  template <class T>
  [[gnu::always_inline]] T read(const var<T>& place) {
    std::uint64_t copy[var<T>::words];
    for (unsigned i = 0; i < var<T>::words; ++i) copy[i] = self().read_word(place.at(i));
    return var<T>::from_words(copy);
  }
  /// Other blocks see the value once this block has committed, and then all its values at once. Cost: a
  /// compare-exchange at the first write to 32 bytes, and a record of the old value.
  template <class T>
  [[gnu::always_inline]] void write(var<T>& place, const std::type_identity_t<T>& value) {
    std::uint64_t copy[var<T>::words];
    var<T>::to_words(value, copy);
    for (unsigned i = 0; i < var<T>::words; ++i) self().write_word(place.at(i), copy[i]);
  }

  /// A new object. If the block does not commit, it is destroyed again. Its constructor may write the vars of the
  /// object itself without the transaction, because no other block knows them yet. Throws: std::bad_alloc, and what the
  /// constructor throws.
  template <class T, class... Arguments>
  auto make(Arguments&&... arguments) -> T* {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    void* const memory = take_memory(self().state(), sizeof(T), alignof(T));
    struct unless_made {
      engine& me;
      void* memory;
      ~unless_made() {
        if (memory != nullptr) forget_made(me, memory);
      }
    } guard{self().state(), memory};
    T* const made = std::construct_at(static_cast<T*>(memory), std::forward<Arguments>(arguments)...);
    guard.memory = nullptr;
    if constexpr (!std::is_trivially_destructible_v<T>) keep_made(self().state(), memory, destroyer<T>());
    return made;
  }
  /// `count` new objects, one after the other, constructed without arguments; otherwise as make(). destroy() of the
  /// first one destroys them all.
  template <array_element T>
  T* make_array(std::size_t count) {
    if (count > PTRDIFF_MAX / sizeof(T)) throw_too_long();
    T* const first = static_cast<T*>(take_memory(self().state(), count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return first;
  }
  /// Destroys an object that some block made, once this block has committed and no other block can access it any more.
  /// The destructor runs at that time, in any thread. It must not throw, and must not run blocks. Null is allowed.
  /// Errors: a message ends the program if an object is destroyed twice, in one block or in two, or if no block made
  /// it. If its memory belongs to something else by then, that cannot be detected.
  /// Requires: the type with which it was made.
  template <class T>
  void destroy(T* object) {
    if (object != nullptr) give_memory(self().state(), object, destroyer<T>());
  }

  /// Runs `action` once, after the block has committed (on_commit), or after it was given up because the body threw
  /// (on_abort). It runs in the block's thread, outside the block. Actions run in the order in which they were given.
  /// An attempt that is restarted forgets its actions. Requires: `action` is trivially copyable, at most 32 bytes, and
  /// throws nothing. It may do anything, also run blocks.
  template <class Action>
  void on_commit(Action action) {
    add_action(self().state(), self().state().commit_actions, txsync::detail::deferred_action::keep(action));
  }
  template <class Action>
  void on_abort(Action action) {
    add_action(self().state(), self().state().abort_actions, txsync::detail::deferred_action::keep(action));
  }

  /// Makes private what this block has made unreachable for others (removed from a list, for example). After the block
  /// has committed, no other transaction touches it again. The thread may then use it without blocks, and free it with
  /// the allocator that it came from. Objects that are given to destroy() need no such call.
  /// Cost: at its end the block waits until all transactions that run at that time have ended; 1..10 us if there are
  /// none.
  void privatize() noexcept { tm::detail::privatize(self().state()); }

 private:
  friend Self;
  transaction_base() noexcept = default;
  ~transaction_base() = default;
  Self& self() noexcept { return static_cast<Self&>(*this); }
};

}  // namespace detail

/// Destroys at once, without a transaction, an object that some block made and that no block can access any more. Such
/// an object was made private by a block (privatize()), or belongs to a container that is being destroyed. Null is
/// allowed. Otherwise as transaction::destroy().
template <class T>
void destroy_unshared(T* object) noexcept {
  if (object != nullptr) detail::free_unshared(object, detail::destroyer<T>());
}

/// tx.make<T>(arguments...), without the word `template` that a body needs for that, because the type of its `tx` is
/// known late.
template <class T, class Transaction, class... Arguments>
T* make(Transaction& tx, Arguments&&... arguments) {
  return tx.template make<T>(std::forward<Arguments>(arguments)...);
}
template <class T, class Transaction>
T* make_array(Transaction& tx, std::size_t count) {
  return tx.template make_array<T>(count);
}

/// A software transaction. It can be undone, so it offers everything.
class transaction : public detail::transaction_base<transaction> {
 public:
  /// Undoes the block, and runs it anew when something that it has read has changed; it sleeps until then (no polling).
  /// Within or_else() the next alternative runs first. A block that has read nothing but what it has written could never
  /// go on: a message ends the program. Cost for others: a block that writes something else executes a load for each
  /// stripe that it writes, while anyone sleeps.
  [[noreturn]] void retry() { detail::retry(state(), machine::no_deadline); }
  /// The same, but the sleep ends at the deadline at the latest. Then the block runs anew, and this call returns.
  ///
  ///     if (tx.read(full) == 0) {
  ///       tx.retry_until(deadline);
  ///       return false;  // nothing came in time
  ///     }
  void retry_until(std::chrono::steady_clock::time_point deadline) {
    detail::retry_until(state(), txsync::detail::deadline_at(deadline));
  }

  /// Runs first(tx). If that ends in retry(), it is undone, and second(tx) runs in its place. If that ends in retry(),
  /// too, the block waits for a change of what either of them has read. Nests.
  template <class First, class Second>
  void or_else(First&& first, Second&& second) {
    if (!detail::run_alternative(
            state(), [](void* data, transaction& tx) { (*static_cast<std::remove_reference_t<First>*>(data))(tx); },
            const_cast<void*>(static_cast<const void*>(std::addressof(first))))) {  // it may be const
      second(*this);
    }
  }

  /// From here on the block is not restarted any more, so it may do I/O. If it could still be restarted, everything is
  /// undone and the body runs anew from its start, serially: other blocks wait until it has ended. If an exception then
  /// leaves the body, the effects of the body stay.
  void irrevocable() { detail::restart_irrevocable(state()); }

  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;

 private:
  friend class detail::transaction_base<transaction>;
  friend class detail::transaction_engine;
  transaction() noexcept = default;
  ~transaction() = default;
  detail::engine& state() noexcept;
  [[gnu::always_inline]] std::uint64_t read_word(const word& cell) { return state().read_word(cell); }
  [[gnu::always_inline]] void write_word(word& cell, std::uint64_t value) { state().write_word(cell, value); }
};

namespace detail {

/// An engine, and the transaction that bodies see of it. Each transaction is part of one. The transaction is empty and
/// has the engine's address, so that accesses find what they need at `this`. It is a private base, so that users cannot
/// go from it to the engine.
class transaction_engine : public engine, private transaction {
 public:
  transaction& seen_by_bodies() noexcept { return *this; }

 private:
  friend transaction;
};
static_assert(sizeof(transaction_engine) == sizeof(engine));

}  // namespace detail

inline detail::engine& transaction::state() noexcept { return static_cast<detail::transaction_engine&>(*this); }

/// A transaction whose accesses are plain loads and stores: in a hardware attempt, or serial and irrevocable.
/// docs/tm/misbehaviour.md says what happens if one is kept and used after its block's end. With NDEBUG, reads and
/// writes are not checked for that.
class direct_transaction : public detail::transaction_base<direct_transaction> {
 public:
  /// In an attempt: continues in software. In an irrevocable block, a message ends the program.
  [[noreturn]] void retry() { detail::retry(engine_, machine::no_deadline); }
  void retry_until(std::chrono::steady_clock::time_point deadline) {
    detail::retry_until(engine_, txsync::detail::deadline_at(deadline));
  }
  template <class First, class Second>
  void or_else(First&& first, Second&&) {
    if (engine_.mode == detail::run_mode::idle) [[unlikely]]
      detail::refuse_outside();
    first(*this);
  }
  void irrevocable() {
    if (engine_.mode != detail::run_mode::irrevocable) detail::restart_irrevocable(engine_);
  }

  direct_transaction(const direct_transaction&) = delete;
  direct_transaction& operator=(const direct_transaction&) = delete;

 private:
  friend class detail::transaction_base<direct_transaction>;
  friend class detail::runner;
  explicit direct_transaction(detail::engine& state) noexcept : engine_(state) {}
  ~direct_transaction() = default;
  detail::engine& state() noexcept { return engine_; }

  std::uint64_t read_word(const word& cell) {
    if (is_kept_from_another()) return engine_.read_word(cell);
    if ((engine_.duties & (detail::checks_reads | detail::by_second_view)) != 0) [[unlikely]]
      return engine_.read_checked(cell);
    return cell.load(std::memory_order_relaxed);  // serial, or in an attempt, which is atomic as a whole
  }
  void write_word(word& cell, std::uint64_t value) {
    if (is_kept_from_another()) return engine_.write_word(cell, value);
    if (engine_.duties != 0) [[unlikely]]
      return engine_.write_noted(cell, value);
    machine::store_in_attempt(cell, value);
  }
  /// Whether an earlier block's body has kept it: its thread then runs no block, or one in software. Checked only if
  /// assert() is, because a check of each access would cost as much as the access.
  bool is_kept_from_another() const noexcept {
#ifdef NDEBUG
    return false;
#else
    return engine_.mode != detail::run_mode::hardware && engine_.mode != detail::run_mode::irrevocable;
#endif
  }

  detail::engine& engine_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm
