// SPDX-License-Identifier: Apache-2.0
// Converts what sites counted to what documents say about them.
#pragma once

#include <txsync/observe/counters.hpp>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// Whether nothing happened at the site.
bool is_idle(const site_totals& counted) noexcept;

/// Adds `part` to `sum`, and sets its name and number.
void add(site_totals& sum, const site_totals& part) noexcept;

/// Adds the records of two runs, each of which may have made no attempts.
void add(std::optional<speculation_record>& sum, const std::optional<speculation_record>& part);
/// The same for software transactions.
void add(std::optional<transaction_record>& sum, const std::optional<transaction_record>& part);
/// The same for warm-ups.
void add(std::optional<warm_record>& sum, const std::optional<warm_record>& part);

/// Keeps the newer one.
void add(std::optional<path_record>& sum, const std::optional<path_record>& part);

/// Everything except kind, where, module and programs, which the counts do not tell. The name too, unless it is null.
site_record record_of(const site_totals& counted);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
