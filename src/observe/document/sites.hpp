// SPDX-License-Identifier: Apache-2.0
// From what sites counted to what documents say of them.
#pragma once

#include <txsync/observe/counters.hpp>

#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// Nothing happened there.
bool is_idle(const site_totals& counted) noexcept;

/// Adds `part` to `sum`, name and number too.
void add(site_totals& sum, const site_totals& part) noexcept;

/// Of what two runs counted, each of which may have made no attempts.
void add(std::optional<speculation_record>& sum, const std::optional<speculation_record>& part);
/// Likewise, of transactions in software.
void add(std::optional<transaction_record>& sum, const std::optional<transaction_record>& part);
/// Likewise, of warm-ups.
void add(std::optional<warm_record>& sum, const std::optional<warm_record>& part);

/// All but kind, where, module and programs, which the counts do not tell. The name too, unless it is null.
site_record record_of(const site_totals& counted);

}  // namespace txsync::inline TXSYNC_BACKEND::observe
