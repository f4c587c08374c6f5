// SPDX-License-Identifier: Apache-2.0
// One function for each verb. Each stands in verb_NAME.cpp; all_verbs() in verbs.cpp calls them.
#pragma once

#include "cli/verb.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

std::unique_ptr<verb> make_bench();
std::unique_ptr<verb> make_doctor();
std::unique_ptr<verb> make_explore();
std::unique_ptr<verb> make_lab();
std::unique_ptr<verb> make_list();
std::unique_ptr<verb> make_replay();
std::unique_ptr<verb> make_report();
std::unique_ptr<verb> make_run();
std::unique_ptr<verb> make_sim();
std::unique_ptr<verb> make_top();
std::unique_ptr<verb> make_tune();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
