// SPDX-License-Identifier: Apache-2.0
// What is learnt of a block: what it costs in hardware, and in software.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// The mean of what one path of a block takes, in machine::cycles(), over recent blocks that were timed. Thread-safe;
/// of two samples at one moment, one may be lost.
class path_cost {
 public:
  /// Few samples mean little: a first run finds its memory untouched.
  static constexpr std::uint64_t min_samples = 8;

  bool is_known() const noexcept { return samples() >= min_samples; }
  std::uint64_t samples() const noexcept { return state() & max_samples; }
  std::uint64_t cycles() const noexcept { return state() >> (sample_bits + fraction_bits); }
  void add(std::uint64_t sample) noexcept {
    const std::uint64_t before = state();
    const std::uint64_t count = before & max_samples;
    std::uint64_t mean = before >> sample_bits;
    // A thread that lost its CPU, or the machine, says nothing of the path.
    if (count >= min_samples && sample > max_ratio * cycles() + slack_cycles)
      sample = max_ratio * cycles() + slack_cycles;
    if (sample > max_cycles) sample = max_cycles;
    const std::uint64_t weight = count < max_weight ? count + 1 : max_weight;
    mean += ((sample << fraction_bits) / weight) - mean / weight;
    state_.store(mean << sample_bits | (count < max_samples ? count + 1 : count), std::memory_order_relaxed);
  }
  void forget() noexcept { state_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr unsigned sample_bits = 8;
  static constexpr unsigned fraction_bits = 4;
  static constexpr std::uint64_t max_samples = (1u << sample_bits) - 1;
  static constexpr std::uint64_t max_weight = 64;
  static constexpr std::uint64_t max_ratio = 8;
  static constexpr std::uint64_t slack_cycles = 1'000;
  static constexpr std::uint64_t max_cycles = std::uint64_t{1} << 48;

  // relaxed, here and where it is stored: it guards nothing
  std::uint64_t state() const noexcept { return state_.load(std::memory_order_relaxed); }

  std::atomic<std::uint64_t> state_{0};  ///< the mean, with fraction_bits; then the number of samples
};

/// Both paths of a block, as `auto` chooses between them.
struct path_costs {
  path_cost alone_in_hardware;  ///< while no other thread runs software transactions
  path_cost hardware_beside;    ///< while one may
  path_cost software;

  /// What it takes in hardware when it goes well there: the lower one of those that are known.
  const path_cost& hardware() const noexcept {
    if (!hardware_beside.is_known()) return alone_in_hardware;
    if (!alone_in_hardware.is_known()) return hardware_beside;
    return alone_in_hardware.cycles() < hardware_beside.cycles() ? alone_in_hardware : hardware_beside;
  }

  // relaxed, both: it guards nothing
  bool prefers_software() const noexcept { return prefers_software_.load(std::memory_order_relaxed); }
  void prefer_software(bool in_software) noexcept { prefers_software_.store(in_software, std::memory_order_relaxed); }
  /// A path is left now. It is to be timed anew before it is preferred again, since blocks change.
  void leave(bool software_path) noexcept {
    left_at_[software_path].store((software_path ? software : hardware()).cycles(), std::memory_order_relaxed);
    forget(software_path);
  }
  void forget() noexcept {
    forget(true);
    forget(false);
    for (std::atomic<std::uint64_t>& one : left_at_) one.store(0, std::memory_order_relaxed);
    prefer_software(false);
  }
  /// For people: what a path takes, or took when it was left. 0: it has not been timed often enough.
  std::uint64_t told_cycles(bool software_path) const noexcept {
    const path_cost& now = software_path ? software : hardware();
    return now.is_known() ? now.cycles() : left_at_[software_path].load(std::memory_order_relaxed);
  }

 private:
  void forget(bool software_path) noexcept {
    if (software_path) return software.forget();
    alone_in_hardware.forget();
    hardware_beside.forget();
  }

  std::atomic<bool> prefers_software_{false};
  std::atomic<std::uint64_t> left_at_[2] = {};  ///< cycles: of the hardware, of software. relaxed: they guard nothing
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail
