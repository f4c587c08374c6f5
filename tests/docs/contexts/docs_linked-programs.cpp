// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <txsync/load_policy.hpp>

void log(const std::string& line);

void load() {
  //@ if (const std::string error = txsync::load_policy("shop.toml"); !error.empty()) log(error);
}
