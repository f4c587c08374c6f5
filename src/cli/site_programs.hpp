// SPDX-License-Identifier: Apache-2.0
// A command may start several programs, such as a server and its clients. This says whose locks the sites are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/site_table.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

/// Whether threads of more than one program waited.
bool several_programs_waited(const std::vector<observe::site_record>& sites);

/// "redis-server", or "ab, nginx" for a site of several programs.
std::string programs_of(const observe::site_record& site);

/// The site's name, with its programs if `is_said`.
std::string name_with_programs(const observe::site_record& site, bool is_said);

/// The rows of a table that shows `max_rows` of them, each beginning with the programs. Each program gets an equal
/// share of the rows. Rows that it does not need go to the sites with the longest waits. Requires: the sites with the
/// longest waits come first; they outlive the rows.
std::vector<site_row> rows_by_program(const std::vector<observe::site_record>& sites, std::size_t max_rows);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
