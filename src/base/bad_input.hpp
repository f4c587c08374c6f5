// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace txsync::base {

/// The user asked for something impossible. One line: what, where, what is allowed. Exit status 2.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace txsync::base
