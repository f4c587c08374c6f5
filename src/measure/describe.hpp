// SPDX-License-Identifier: Apache-2.0
// Workloads and locks in the words of documents and tables.
#pragma once

#include "observe/document/document.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {

/// Every parameter by name: a number, or a word if the parameter has words.
observe::json named_values(const workloads::workload& which, const workloads::parameters& values);

/// " key=value key=value" from what named_values() made.
std::string settings_text(const observe::json& values);

/// "spins" or "parks"; empty for neither.
const char* waiting_word(workloads::waiting how);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure
