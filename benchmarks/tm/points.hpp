// SPDX-License-Identifier: Apache-2.0
// Points of ./dev bench tm that are no cells of its table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// `workload`: what is measured; its threads are not pinned.
inline observe::point make_point(const char* workload, const std::string& subject, unsigned threads, const char* metric,
                                 const char* unit, observe::better way, std::vector<double> values) {
  observe::point made;
  made.workload = workload;
  made.subject = subject;
  made.threads = threads;
  made.placement = "none";
  made.metric = metric;
  made.unit = unit;
  made.way = way;
  made.values = std::move(values);
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
