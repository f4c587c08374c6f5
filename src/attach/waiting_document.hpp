// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attach/waiting.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

/// Which threads wait, and who holds what they wait for, in the form of documents.
observe::json waiting_json(const waiting& seen);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
