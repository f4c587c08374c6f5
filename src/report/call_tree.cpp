// SPDX-License-Identifier: Apache-2.0
#include "report/call_tree.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

/// A frame while chains are added. Callees have keys by which equal frames are merged.
struct node {
  call_frame frame;
  std::map<std::string, node> callees;
};

std::vector<std::string> bounded(std::vector<std::string> frames) {
  if (frames.size() <= max_levels) return frames;
  // Keep 8 frames at the root and all near the lock, because the callers of the lock say most.
  constexpr std::size_t of_root = 8;
  const std::size_t left_out = frames.size() - max_levels + 1;
  const auto from = frames.begin() + of_root;
  frames.erase(from, from + static_cast<std::ptrdiff_t>(left_out));
  frames.insert(frames.begin() + of_root, fmt::format("… {} calls left out", left_out));
  return frames;
}

void add_chain(node& to, const call_chain& chain) {
  to.frame.amount += chain.amount;
  to.frame.before += chain.before;
}

call_frame finished(node&& from, bool compares) {
  call_frame frame = std::move(from.frame);
  frame.callees.reserve(from.callees.size());
  for (auto& [key, callee] : from.callees) frame.callees.push_back(finished(std::move(callee), compares));
  std::stable_sort(frame.callees.begin(), frame.callees.end(), [compares](const call_frame& a, const call_frame& b) {
    return weight_of(a, compares) > weight_of(b, compares);
  });
  return frame;
}

}  // namespace

double weight_of(const call_frame& frame, bool compares) noexcept {
  return compares ? (frame.amount + frame.before) / 2 : frame.amount;
}

call_frame tree_of(const std::vector<call_chain>& chains, bool compares) {
  node root;
  for (const call_chain& chain : chains) {
    if (chain.frames.empty() || chain.amount < 0 || chain.before < 0 || chain.amount + chain.before == 0) continue;
    const std::vector<std::string> frames = bounded(chain.frames);
    add_chain(root, chain);
    node* at = &root;
    for (std::size_t level = 0; level < frames.size(); ++level) {
      const bool lock = level + 1 == frames.size();
      const std::string name = compares ? without_line(frames[level]) : frames[level];
      at = &at->callees[(lock ? "l" : "f") + name];
      // A frame that occurs in both documents gets its name from the second one.
      if (at->frame.name.empty() || chain.amount > 0) at->frame.name = frames[level];
      at->frame.lock = lock;
      add_chain(*at, chain);
    }
  }
  return finished(std::move(root), compares);
}

void merge_narrow(call_frame& frame, double least, bool compares) {
  auto& callees = frame.callees;
  const auto narrow = std::find_if(callees.begin(), callees.end(),
                                   [&](const call_frame& one) { return weight_of(one, compares) < least; });
  for (auto one = callees.begin(); one != narrow; ++one) merge_narrow(*one, least, compares);
  const auto count = static_cast<std::size_t>(callees.end() - narrow);
  if (count == 0) return;
  narrow->callees.clear();
  if (count == 1) return;
  for (auto other = narrow + 1; other != callees.end(); ++other) {
    narrow->amount += other->amount;
    narrow->before += other->before;
  }
  narrow->name.clear();
  narrow->lock = false;
  narrow->merged = count;
  callees.erase(narrow + 1, callees.end());
}

std::size_t frames_in(const call_frame& frame) noexcept {
  std::size_t count = 1;
  for (const call_frame& callee : frame.callees) count += frames_in(callee);
  return count;
}

std::size_t levels_of(const call_frame& frame) noexcept {
  std::size_t most = 0;
  for (const call_frame& callee : frame.callees) most = std::max(most, levels_of(callee));
  return most + 1;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
