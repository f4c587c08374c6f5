// SPDX-License-Identifier: Apache-2.0
// Atomic blocks.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <txsync/export.hpp>
#include <txsync/tm/block.hpp>
#include <txsync/tm/transaction.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

namespace detail {

/// A body, compiled twice, with its type erased.
struct erased_body {
  void (*in_software)(void* data, transaction& tx);
  void (*directly)(void* data, direct_transaction& tx);
};
TXSYNC_EXPORT void run(block& where, const erased_body& body, void* data);

template <class Body, class Result>
struct frame {
  std::remove_reference_t<Body>* body;
  std::optional<Result> result;
};
template <class Body>
struct frame<Body, void> {
  std::remove_reference_t<Body>* body;
};

template <class Body, class Result, class Transaction>
void run_body(void* data, Transaction& tx) {
  auto& mine = *static_cast<frame<Body, Result>*>(data);
  if constexpr (std::is_void_v<Result>) {
    (*mine.body)(tx);
  } else {
    mine.result.reset();  // of an attempt that came to its end, and was restarted at its commit
    mine.result.emplace((*mine.body)(tx));
  }
}

template <class Body, class Result>
inline constexpr erased_body bodies_of = {run_body<Body, Result, transaction>,
                                          run_body<Body, Result, direct_transaction>};

}  // namespace detail

/// Runs body(tx) as one step, and returns the body's result. No other block sees a part of what the body does, or
/// changes what it sees until it ends. All accesses to what blocks share go through tx.
///
///     const bool done = txsync::tm::atomically(transfer, [&](auto& tx) {
///       const long left = tx.read(from.balance);
///       if (left < amount) return false;
///       tx.write(from.balance, left - amount);
///       tx.write(to.balance, tx.read(to.balance) + amount);
///       return true;
///     });
///
/// Requires: the body can be run several times: it changes nothing but its local variables and what tx gives it. It
/// takes no lock and starts no threads. It waits for other threads only by tx.retry(). It returns a value that can be
/// moved, or nothing; not a reference.
/// Nesting is flat: a block within a block becomes part of it.
/// Errors: an exception that leaves the body undoes the block, and is thrown by atomically(). (In an irrevocable block,
/// the effects stay.) The exception object must not need what the block had made.
/// Thread-safe. Cost: about 10 ns, and the cost of the accesses.
template <class Body>
auto atomically(block& where, Body&& body) {
  constexpr bool takes_both =
      std::is_invocable_v<Body&, transaction&> && std::is_invocable_v<Body&, direct_transaction&>;
  static_assert(takes_both, "txsync::tm::atomically: the body has to take its transaction as `auto& tx`");
  if constexpr (takes_both) {
    using result = std::invoke_result_t<Body&, transaction&>;
    static_assert(std::is_same_v<result, std::invoke_result_t<Body&, direct_transaction&>>,
                  "txsync::tm::atomically: the body has to return the same type in hardware and in software");
    static_assert(!std::is_reference_v<result>, "txsync::tm::atomically: the body has to return a value, or nothing");
    if constexpr (std::is_void_v<result>) {
      detail::frame<Body, void> mine{std::addressof(body)};
      detail::run(where, detail::bodies_of<Body, void>, &mine);
    } else {
      detail::frame<Body, result> mine{std::addressof(body), std::nullopt};
      detail::run(where, detail::bodies_of<Body, result>, &mine);
      return std::move(*mine.result);  // NOLINT(bugprone-unchecked-optional-access): run() has filled it
    }
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm
