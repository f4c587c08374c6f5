// SPDX-License-Identifier: Apache-2.0
// The Trace Event Format for ui.perfetto.dev and chrome://tracing: complete events (ph "X") in microseconds.
#include "base/words.hpp"
#include "report/profile_files.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

using observe::json;

const char* category_of(launch::lock_event::kind kind) {
  switch (kind) {
    case launch::lock_event::kind::wait:
      return "wait";
    case launch::lock_event::kind::failed_wait:
      return "failed wait";
    case launch::lock_event::kind::hold:
      break;
  }
  return "hold";
}

json event_of(const launch::lock_event& one) {
  const std::string category = category_of(one.what);
  return {{"ph", "X"},
          {"cat", category},
          {"name", category + " " + one.site},
          {"ts", static_cast<double>(one.start_ns) / 1e3},
          {"dur", static_cast<double>(one.ns) / 1e3},
          {"pid", one.process},
          {"tid", one.thread},
          {"args", {{"site", one.site}, {"lock", base::hexadecimal(one.object)}}}};
}

}  // namespace

std::string trace_file(const launch::result& result) {
  // One event a line, and none is kept as JSON: there may be 100,000.
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  for (const launch::lock_event& one : result.events) {
    text += &one == &result.events.front() ? "\n" : ",\n";
    text += event_of(one).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  const json other = {{"events", result.events.size()},
                      {"events_left_out", result.events_left_out},
                      {"max_events", launch::max_events}};
  return text + "\n],\n\"otherData\": " + other.dump() + "}\n";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
