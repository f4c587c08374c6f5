// SPDX-License-Identifier: Apache-2.0
#include "workloads/harness/team.hpp"

#include <algorithm>
#include <optional>

#include <txsync/machine/environment.hpp>

#include "workloads/harness/pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

void worker::wait_for_start() noexcept {
  signals_->ready.fetch_add(1);
  while (!signals_->open.load()) machine::yield();
  started_cycles_ = machine::cycles();
  if (waits_ != nullptr) waits_->clock.start(0, machine::thread_cpu_ns());
}

bool worker::turn() noexcept {
  const std::uint64_t now = done();
  if (now == limit_) return false;
  const std::uint64_t left = limit_ - now;
  if (stamps_ != nullptr) {
    // relaxed: a stamp more or less at the edges of the measured phase does not matter
    const bool counts = signals_->measuring.load(std::memory_order_relaxed);
    turn_ = now + std::min(left, stamps_->add({machine::cycles(), now}, counts));
    return !signals_->stop.load(std::memory_order_relaxed);  // as in more()
  }
  sampling_ = true;
  turn_ = now + (how_->sample_every < left ? how_->sample_every : left);
  return !signals_->stop.load(std::memory_order_relaxed);  // as in more()
}

void worker::begin_sample() noexcept {
  waited_ = 0;
  entered_ = false;
  begun_ = machine::cycles();
  if (waits_ != nullptr) {
    waits_->clock.begin(ns_of(begun_ - started_cycles_), machine::thread_cpu_ns);
    begun_ = machine::cycles();
  }
  asked_ = begun_;
}

void worker::keep_sample() noexcept {
  const std::uint64_t now = machine::cycles();
  sampling_ = false;
  // relaxed: one sample more or less at the edges of the measured phase does not matter
  const bool counts = signals_->measuring.load(std::memory_order_relaxed);
  if (counts) latency_.add(ns_of(now - begun_));
  if (waits_ == nullptr) return;
  const std::uint64_t wait_ns = ns_of(waited_);
  const std::uint64_t cpu_ns =
      waits_->clock.end(ns_of(begun_ - started_cycles_), wait_ns, ns_of(now - started_cycles_), machine::thread_cpu_ns);
  if (counts && entered_) waits_->add(wait_ns, cpu_ns);
}

void worker::run(void* raw) noexcept {
  auto& me = *static_cast<worker*>(raw);
  if (me.how_->placement != machine::placement::none) {
    me.pin_refused_ = !machine::pin(machine::cpu_for(me.how_->placement, me.index_, me.how_->socket));
  }
  me.body_(me, me.shared_);
  me.ended_ns_ = machine::clock_ns();
  me.ended_cycles_ = machine::cycles();
}

/// One run: start, measure, join, sum up. It is in the frame of the caller, who sleeps during the measurement.
class team {
 public:
  explicit team(const plan& how) noexcept : how_(how), workers_(how.threads) {
    if (how.sample_every == 1) waits_.emplace(how.threads);
  }

  team_result run(erased_body body, void* shared) noexcept {
    team_result result;
    if (!workers_.ok() || (waits_ && !waits_->ok())) {
      result.seen.fault = no_memory;
    } else if (!start(body, shared)) {
      result.seen.fault = "the system refused to start so many threads";
    } else {
      measure(result.seen);
      sum_up(result);
    }
    return result;
  }

 private:
  /// Starts all threads and waits until they wait at the gate; or starts none.
  bool start(erased_body body, void* shared) noexcept {
    TXSYNC_ASSERT(how_.stamps_by_thread == nullptr || how_.sample_every == 0, "a turn is for one of them");
    machine::enter_phase(machine::phase::running);
    const std::uint64_t rate = how_.sample_every != 0 ? machine::cycles_per_second() : 1;
    unsigned started = 0;
    for (worker& one : workers_) {
      one.signals_ = &signals_;
      one.how_ = &how_;
      one.body_ = body;
      one.shared_ = shared;
      one.index_ = started;
      one.seed_ = how_.seed;
      one.limit_ = how_.operations != 0 ? how_.operations : ~std::uint64_t{0};
      const std::uint64_t first_turn = how_.stamps_by_thread != nullptr ? 1 : how_.sample_every;
      one.turn_ = first_turn != 0 && first_turn < one.limit_ ? first_turn : one.limit_;
      if (waits_) one.waits_ = &(*waits_)[started];
      if (how_.stamps_by_thread != nullptr) one.stamps_ = &how_.stamps_by_thread[started];
      one.ns_per_cycle_ = 1e9 / static_cast<double>(rate);
      if (!one.thread_.start(worker::run, &one)) break;
      ++started;
    }
    if (started < how_.threads) {
      signals_.stop.store(true);
      signals_.open.store(true);
      for (unsigned i = 0; i < started; ++i) workers_[i].thread_.join();
      return false;
    }
    while (signals_.ready.load() < started) machine::yield();
    return true;
  }

  void measure(outcome& seen) noexcept {
    if (how_.operations != 0) {
      measure_operations(seen);
    } else {
      measure_time(seen);
    }
  }

  /// The measured phase lasts from the opening of the gate until the last thread has finished.
  void measure_operations(outcome& seen) noexcept {
    signals_.measuring.store(true);
    machine::enter_phase(machine::phase::measured);
    const std::uint64_t began_ns = machine::clock_ns();
    signals_.open.store(true);
    for (worker& one : workers_) one.thread_.join();
    machine::enter_phase(machine::phase::running);
    for (const worker& one : workers_) {
      seen.elapsed_ns = std::max(seen.elapsed_ns, one.ended_ns_ - began_ns);
      seen.cycles = std::max(seen.cycles, one.ended_cycles_ - one.started_cycles_);
    }
    count(seen);
  }

  /// The counts are read while the threads run, so that neither the run-in nor the threads' end is measured.
  void measure_time(outcome& seen) noexcept {
    signals_.open.store(true);
    if (how_.run_in_ns != 0) sleep_until(machine::clock_ns() + how_.run_in_ns);
    const std::uint64_t began_ns = machine::clock_ns();
    const std::uint64_t began_cycles = machine::cycles();
    for (worker& one : workers_) one.before_ = one.done();
    signals_.measuring.store(true);
    machine::enter_phase(machine::phase::measured);
    sleep_until(began_ns + how_.duration_ns);
    machine::enter_phase(machine::phase::running);
    seen.elapsed_ns = machine::clock_ns() - began_ns;
    seen.cycles = machine::cycles() - began_cycles;
    count(seen);
    signals_.stop.store(true);
    for (worker& one : workers_) one.thread_.join();
  }

  static void sleep_until(std::uint64_t deadline_ns) noexcept {
    for (std::uint64_t now = machine::clock_ns(); now < deadline_ns; now = machine::clock_ns()) {
      machine::sleep_ns(deadline_ns - now);
    }
  }

  void count(outcome& seen) noexcept {
    seen.fewest = ~std::uint64_t{0};
    for (const worker& one : workers_) {
      const std::uint64_t measured = one.done() - one.before_;
      seen.operations += measured;
      seen.fewest = std::min(seen.fewest, measured);
      seen.most = std::max(seen.most, measured);
      if (how_.operations_by_thread != nullptr) how_.operations_by_thread[one.index()] = measured;
    }
  }

  void sum_up(team_result& result) noexcept {
    for (worker& one : workers_) {
      result.all_operations += one.done();
      if (one.pin_refused_) ++result.seen.unpinned;
      for (unsigned i = 0; i < worker::tallies; ++i) result.tallies[i] += one.tallies_[i];
      result.seen.latency.merge(one.latency_);
    }
    if (!waits_) return;
    for (const wait_record& one : *waits_) {
      result.seen.waits.merge(one.lengths);
      result.seen.max_wait_ns = std::max(result.seen.max_wait_ns, one.max_ns);
      result.seen.wait_cpu_ns += one.cpu_ns;
    }
  }

  const plan& how_;
  page_array<worker> workers_;
  std::optional<page_array<wait_record>> waits_;  ///< one per worker; empty unless every operation is timed
  team_signals signals_;
};

team_result run_erased_team(const plan& how, erased_body body, void* shared) noexcept {
  return team(how).run(body, shared);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads
