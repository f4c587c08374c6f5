// SPDX-License-Identifier: Apache-2.0
#include "launch/sampler.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <numeric>
#include <utility>

#include "base/descriptor.hpp"
#include "machine/native/perf_event.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

constexpr std::uint64_t sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                                      PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_TRANSACTION;
constexpr std::size_t ring_bytes = std::size_t{1} << 16;
constexpr std::uint16_t max_calls = 16;
/// Not a divisor of 1000: programs may do something a thousand times a second.
constexpr std::uint64_t samples_per_s = 997;

std::string kernel_setting(const char* name) {
  std::ifstream in(std::string("/proc/sys/kernel/") + name);
  std::string value;
  in >> value;
  return value;
}

/// The kernel refuses a higher rate than it allows.
std::uint64_t allowed_samples_per_s() {
  const std::uint64_t allowed = std::strtoull(kernel_setting("perf_event_max_sample_rate").c_str(), nullptr, 10);
  return allowed == 0 ? samples_per_s : std::min(samples_per_s, allowed);
}

perf_event_attr attributes_of(const counted_event& what) {
  perf_event_attr made{};
  made.size = sizeof made;
  made.type = what.type;
  made.config = what.config[0];
  made.config1 = what.config[1];
  made.config2 = what.config[2];
  made.precise_ip = what.precision & 3U;
  made.freq = 1;
  made.sample_freq = allowed_samples_per_s();
  made.sample_type = sample_type;
  made.sample_max_stack = max_calls;
  made.disabled = 1;
  made.inherit = 1;
  made.enable_on_exec = 1;
  // Only in the program, which an unprivileged user may sample.
  made.exclude_kernel = 1;
  made.exclude_hv = 1;
  made.exclude_callchain_kernel = 1;
  // What is mapped where, and which process is whose child.
  made.mmap = 1;
  made.mmap2 = 1;
  made.task = 1;
  made.sample_id_all = 1;
  // One clock for all CPUs.
  made.use_clockid = 1;
  made.clockid = CLOCK_MONOTONIC;
  return made;
}

std::vector<unsigned> cpus_of(const counted_event& what) {
  if (!what.cpus.empty()) return what.cpus;
  std::vector<unsigned> all(static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))));
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace

std::string why_refused(int error, const std::string& paranoid) {
  switch (error) {
    case EACCES:
    case EPERM:
      if (std::strtol(paranoid.c_str(), nullptr, 10) > 2)
        return "kernel.perf_event_paranoid is " + paranoid +
               ", which keeps users from sampling; allowed: as root, or sudo sysctl kernel.perf_event_paranoid=2";
      return "this process may not sample; a container needs --cap-add PERFMON and a seccomp profile with "
             "perf_event_open";
    case ENOSYS:
      return "the kernel has no perf_event_open()";
    case EMFILE:
      return "sampling needs an open file for each CPU; allowed: a greater limit (ulimit -n)";
    case EBUSY:
      return "another program keeps the counters to itself";
    case ENOENT:
    case EOPNOTSUPP:
    case EINVAL:
      return std::string("the machine's counters do not sample the event (") + std::strerror(error) + ")";
    default:
      return std::string("the kernel refuses to sample: ") + std::strerror(error);
  }
}

std::optional<std::vector<unsigned char>> take_written(perf_event_mmap_page& head,
                                                       std::span<const unsigned char> room) {
  // acquire pairs with the kernel's barrier between the records and data_head (perf_output_put_handle())
  const std::uint64_t end = std::atomic_ref(head.data_head).load(std::memory_order_acquire);
  const std::uint64_t begin = head.data_tail;
  std::optional<std::vector<unsigned char>> taken;
  if (const std::uint64_t bytes = end - begin; bytes <= room.size()) {
    taken.emplace(bytes);
    const std::size_t offset = begin & (room.size() - 1);
    const std::size_t before_end = std::min<std::size_t>(bytes, room.size() - offset);
    std::copy_n(room.begin() + static_cast<std::ptrdiff_t>(offset), before_end, taken->begin());
    std::copy_n(room.begin(), bytes - before_end, taken->begin() + static_cast<std::ptrdiff_t>(before_end));
  }
  // release pairs with the control dependency on data_tail before the kernel writes there again
  std::atomic_ref(head.data_tail).store(end, std::memory_order_release);
  return taken;
}

/// The memory that the kernel writes into for one CPU: a page with the head, then the records.
class sampler::ring {
 public:
  explicit ring(base::descriptor file) : file_(std::move(file)) {
    void* const mapped = mmap(nullptr, head_bytes() + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (mapped != MAP_FAILED) head_ = static_cast<perf_event_mmap_page*>(mapped);
  }
  ring(ring&& other) noexcept : file_(std::move(other.file_)), head_(std::exchange(other.head_, nullptr)) {}
  ring& operator=(ring&&) = delete;
  ~ring() {
    if (head_ != nullptr) munmap(head_, head_bytes() + ring_bytes);
  }

  bool is_mapped() const noexcept { return head_ != nullptr; }

  std::optional<std::vector<unsigned char>> take() const {
    const auto* const records = reinterpret_cast<const unsigned char*>(head_) + head_bytes();
    return take_written(*head_, {records, ring_bytes});
  }

 private:
  static std::size_t head_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  base::descriptor file_;
  perf_event_mmap_page* head_ = nullptr;
};

sampler::sampler(const counted_event& what) : reader_(sample_type) {
  open(what);
  if (!why_not_.empty()) rings_.clear();
}
sampler::~sampler() = default;

void sampler::open(const counted_event& what) {
  perf_event_attr attributes = attributes_of(what);
  for (const unsigned cpu : cpus_of(what)) {
    // An inherited event has a ring only if it is bound to one CPU.
    const long opened = machine::open_perf_event(attributes, 0, static_cast<int>(cpu));
    if (opened == -ENODEV) continue;  // the CPU is switched off
    if (opened < 0) {
      why_not_ = why_refused(static_cast<int>(-opened), kernel_setting("perf_event_paranoid"));
      return;
    }
    ring made{base::descriptor(static_cast<int>(opened))};
    if (!made.is_mapped()) {
      why_not_ = "no memory for samples may be locked; allowed: as root, or a greater kernel.perf_event_mlock_kb";
      return;
    }
    rings_.push_back(std::move(made));
  }
  if (rings_.empty()) why_not_ = "no CPU counts the event";
}

void sampler::read() {
  sample_records records;
  for (const ring& one : rings_) {
    if (const std::optional<std::vector<unsigned char>> bytes = one.take()) {
      reader_.read(*bytes, records);
    } else {
      ++records.damaged;
    }
  }
  sums_.add(std::move(records));
}

code_samples sampler::take() {
  code_samples made = sums_.take();
  made.why_not = std::move(why_not_);
  return made;
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch
