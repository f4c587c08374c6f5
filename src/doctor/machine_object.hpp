// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "doctor/report.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

/// The "machine" object of result documents. docs/result-document.md explains its members.
observe::json machine_object(const machine_report& report);

/// The same in one line, for people; it stands above a table.
std::string machine_line(const machine_report& report);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor
