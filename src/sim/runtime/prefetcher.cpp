// SPDX-License-Identifier: Apache-2.0
#include "prefetcher.hpp"

#include <new>

namespace txsync::sim {

namespace {

constexpr unsigned shortest_stream = 3;
constexpr unsigned lines_a_miss = 2;
constexpr unsigned page_bits = 12;

}  // namespace

void prefetcher::set_up(const machine_model& model) noexcept {
  count_ = model.prefetch_distance != 0 ? model.prefetch_streams : 0;
  distance_ = model.prefetch_distance;
  page_shift_ = page_bits - static_cast<unsigned>(__builtin_ctz(model.l1_line));
  if (count_ == 0) return;
  mask_ = (count_ & (count_ - 1)) == 0 ? count_ - 1 : 0;
  streams_ = static_cast<stream*>(reserve(0, count_ * sizeof(stream), "streams of a prefetcher"));
  for (unsigned i = 0; i < count_; ++i) new (&streams_[i]) stream;
}

prefetcher::lines prefetcher::go_on(stream& one, line_number line) const noexcept {
  const line_number page = line >> page_shift_;
  const int step = line > one.last ? 1 : -1;
  const line_number distance = line > one.last ? line - one.last : one.last - line;
  if (distance == 0) return {};
  // Lines that it brought do not miss, so a stream may go on some lines further.
  const bool goes_on = step == one.step || one.step == 0;
  if (!goes_on || distance > distance_ + 1) {
    one = {.page = page + 1, .last = line, .ahead = line, .step = goes_on ? 0 : step, .length = goes_on ? 1u : 2u};
    return {};
  }
  one.last = line;
  one.step = step;
  if (step > 0 ? one.ahead < line : one.ahead > line) one.ahead = line;
  if (++one.length < shortest_stream) return {};
  lines wanted{.first = one.ahead + static_cast<line_number>(step), .step = step};
  while (wanted.count < lines_a_miss) {
    const line_number next = one.ahead + static_cast<line_number>(step);
    const line_number far = step > 0 ? next - line : line - next;
    if (far > distance_ || next >> page_shift_ != page) break;
    one.ahead = next;
    ++wanted.count;
  }
  return wanted;
}

}  // namespace txsync::sim
