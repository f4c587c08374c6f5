// SPDX-License-Identifier: Apache-2.0
#include "attach/waiting_document.hpp"

#include <utility>

#include "base/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

using base::hexadecimal;

namespace {

observe::json calls_json(const seen_thread& thread) {
  observe::json made = observe::json::array();
  for (const named_frame& one : thread.calls) {
    observe::json frame = {{"text", text_of(one)}};
    if (!one.function.empty()) frame["function"] = one.function;
    if (!one.where.empty()) frame["where"] = one.where;
    if (!one.module.empty()) frame["module"] = one.module;
    frame["offset"] = one.offset;
    made.push_back(std::move(frame));
  }
  return made;
}

observe::json thread_json(const seen_thread& thread) {
  return {{"thread", thread.id}, {"name", thread.name}, {"calls", calls_json(thread)}, {"complete", thread.complete}};
}

observe::json object_json(const seen_object& one) {
  observe::json made = {{"kind", to_string(one.object.kind)}, {"address", hexadecimal(one.object.address)}};
  if (!one.name.empty()) made["name"] = one.name;
  if (one.owner) {
    made["owner"] = thread_json(one.owner->thread);
    made["owner"]["state"] = to_string(one.owner->state);
    if (one.owner->waits_for != 0) made["owner"]["waits_for"] = hexadecimal(one.owner->waits_for);
  }
  if (one.object.readers != 0) made["readers"] = one.object.readers;
  made["waiters"] = observe::json::array();
  for (const seen_thread& waiter : one.waiters) made["waiters"].push_back(thread_json(waiter));
  return made;
}

}  // namespace

observe::json waiting_json(const waiting& seen) {
  observe::json made = {{"threads", seen.threads}, {"running", seen.running}, {"objects", observe::json::array()}};
  for (const seen_object& one : seen.objects) made["objects"].push_back(object_json(one));
  if (!seen.deadlock.empty()) made["deadlock"] = seen.deadlock;
  made["stops"] = seen.stops;
  made["max_copy_ns"] = seen.max_copy_ns;
  made["max_stop_ns"] = seen.max_stop_ns;
  if (!seen.remarks.empty()) made["remarks"] = seen.remarks;
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach
