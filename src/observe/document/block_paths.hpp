// SPDX-License-Identifier: Apache-2.0
// Which path atomic blocks took, in words.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// A row of a table of sites.
struct site_row {
  std::string lead;  ///< the verb's own columns before the site's; rows of one lead share their waiting
  const site_record* site = nullptr;
};
/// Rows without a lead. `site_of`: what has the site_record in an element of `all`.
template <class All, class SiteOf>
std::vector<site_row> rows_of(const All& all, SiteOf site_of) {
  std::vector<site_row> rows;
  rows.reserve(all.size());
  for (const auto& one : all) rows.push_back({"", &std::invoke(site_of, one)});
  return rows;
}

/// Why a block first tries the path that it does: its costs, or what excludes the other path. Then what most of its
/// attempts in hardware aborted for, if some did.
std::string why_of(const path_record& path, const site_record& site);

/// A table of the atomic blocks among the rows, those that committed most first: commits in hardware and in software,
/// and why. Nothing if there are none. `width` is that of the leads and their heading.
void print_block_paths(std::FILE* out, const std::string& lead_heading, std::size_t width, std::vector<site_row> rows,
                       std::size_t most);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe
