// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

verb_list all_verbs() {
  verb_list all;
  all.push_back(make_doctor());
  all.push_back(make_run());
  all.push_back(make_top());
  all.push_back(make_bench());
  all.push_back(make_sim());
  all.push_back(make_explore());
  all.push_back(make_replay());
  all.push_back(make_lab());
  all.push_back(make_tune());
  all.push_back(make_report());
  all.push_back(make_list());
  return all;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli
