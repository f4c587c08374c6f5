// SPDX-License-Identifier: Apache-2.0
#include "races.hpp"

#include <algorithm>
#include <utility>

#include "call_chain.hpp"
#include "failure.hpp"
#include "granules.hpp"
#include "state.hpp"
#include "traces.hpp"

// The standard streams. Threads may use them without synchronization (C++20, [iostream.objects.overview]).
extern "C" [[gnu::weak]] char _ZSt3cin[];
extern "C" [[gnu::weak]] char _ZSt4cout[];
extern "C" [[gnu::weak]] char _ZSt4cerr[];
extern "C" [[gnu::weak]] char _ZSt4clog[];

namespace txsync::sim {

constinit atomic_access next_access_is{};

namespace {

constexpr unsigned max_clocks = 128;  // threads; with more of them, no races are looked for
using clock = std::uint32_t;
using clocks = clock[max_clocks];

/// The last access of a kind by a thread to some bytes of a granule.
struct last_access {
  std::uint32_t next;
  std::uint32_t code;
  clock time;
  std::uint8_t thread;
  std::uint8_t bytes;  ///< one bit for each
  bool writes;
  bool is_atomic;
};

struct thread_clocks {
  clocks now;
  clocks released;  ///< by its last release fence
  clocks seen;      ///< what its relaxed loads would have acquired
};

struct location {
  std::uintptr_t address;  ///< of a granule; 0: unused
  clocks handed_over;
};

constexpr std::size_t max_accesses = std::size_t{1} << 23;
constexpr std::size_t max_locations = std::size_t{1} << 15;

constinit thread_clocks* of_thread = nullptr;
constinit location* locations = nullptr;
constinit std::size_t location_count = 0;
constinit std::uint32_t* first_access = nullptr;  // by granule
// Of a program that explores itself, what its next schedule begins without.
constinit growing_list<std::uint32_t> accessed_granules;
constinit growing_list<std::uint32_t> used_locations;
constinit growing_list<last_access> accesses;  // the first one stands for none
constinit std::uint32_t unused = 0;            // a list of them
constinit bool off = true;
using race_function = void (*)(std::uintptr_t code, std::uintptr_t other) noexcept;
constinit race_function found = nullptr;

constexpr int acquire = 2;
constexpr int release = 3;
constexpr int both = 4;
constexpr int order_bits = 0xFF;
constexpr bool acquires(int order) noexcept { return order == 1 || order == acquire || order >= both; }
constexpr bool releases(int order) noexcept { return order == release || order >= both; }

unsigned used() noexcept { return std::min(state.thread_count, max_clocks); }
void join(clocks& into, const clocks& from) noexcept {
  for (unsigned i = 0; i < used(); ++i) into[i] = std::max(into[i], from[i]);
}
thread_clocks& clocks_of(const thread_record& thread) noexcept { return of_thread[thread.id]; }

/// Null if there is none and it is not to be made. Null, too, if there are too many: then no races are looked for any
/// more.
location* location_of(std::uintptr_t address, bool make) noexcept {
  address -= address % granule_bytes;
  std::size_t at = address / granule_bytes * 0x9E3779B97F4A7C15u >> 49;
  for (;; at = (at + 1) % max_locations) {
    if (locations[at].address == address) return &locations[at];
    if (locations[at].address == 0) break;
  }
  if (!make) return nullptr;
  if (++location_count > max_locations / 2) {
    off = true;
    return nullptr;
  }
  locations[at].address = address;
  used_locations.push(static_cast<std::uint32_t>(at));
  return &locations[at];
}

/// A store, too, adds to what the atomic has: another one may be in the same granule. With store buffers, the store may
/// still wait.
void hand_over(thread_clocks& mine, unsigned id, location& at, int order) noexcept {
  const clocks& given = releases(order) ? mine.now : mine.released;
  join(at.handed_over, given);
  if (releases(order)) ++mine.now[id];
}

std::uint8_t bytes_in(std::uintptr_t granule, std::uintptr_t address, std::size_t bytes) noexcept {
  const std::uintptr_t from = std::max(granule, address) - granule;
  const std::uintptr_t to = std::min(granule + granule_bytes, address + bytes) - granule;
  return static_cast<std::uint8_t>((1u << to) - (1u << from));
}

bool is_standard_stream(std::uintptr_t address) noexcept {
  constexpr std::size_t max_bytes = 288;  // of an istream, and somewhat more
  for (const char* const one : {_ZSt3cin, _ZSt4cout, _ZSt4cerr, _ZSt4clog}) {
    if (one != nullptr && address - reinterpret_cast<std::uintptr_t>(one) < max_bytes) return true;
  }
  return false;
}

/// `made` races with `other` at the granule.
[[noreturn]] void refuse(const last_access& other, const last_access& made, std::size_t bytes,
                         std::uintptr_t granule) noexcept {
  const auto first = static_cast<unsigned>(__builtin_ctz(static_cast<unsigned>(other.bytes & made.bytes)));
  if (state.traces)
    trace(*state.current, made.code, made.writes ? step_kind::writes : step_kind::reads, granule + first);
  line_text line;
  line << "data race: thread " << made.thread << (made.writes ? " writes " : " reads ") << bytes
       << (bytes == 1 ? " byte" : " bytes");
  (line << " of data at ").hexadecimal(granule + first);
  add_code(line << " in ", made.code);
  line << ", and thread " << other.thread << (other.writes ? " wrote" : " read");
  add_code(line << " in ", other.code);
  line << "; nothing orders the two";
  fail(line);
}

std::uint32_t new_access() noexcept {
  if (unused != 0) return std::exchange(unused, accesses[unused].next);
  if (!accesses.push({})) return 0;
  return static_cast<std::uint32_t>(accesses.size() - 1);
}

/// Compares with the accesses before, and drops those that the new one stands for from now on.
void check_granule(const thread_record& thread, std::uint32_t& first, last_access made, std::size_t bytes) noexcept {
  const clocks& now = clocks_of(thread).now;
  for (std::uint32_t* at = &first; *at != 0;) {
    last_access& other = accesses[*at];
    const bool is_before = other.time <= now[other.thread];
    if (!is_before && (other.bytes & made.bytes) != 0 && (other.writes || made.writes) &&
        !(other.is_atomic && made.is_atomic)) {
      if (found == nullptr)
        refuse(other, made, bytes, static_cast<std::uintptr_t>(&first - first_access) * granule_bytes);
      found(made.code, other.code);
    }
    const bool is_covered =
        (other.bytes & ~made.bytes) == 0 && (made.writes || !other.writes) && (!made.is_atomic || other.is_atomic);
    if (!is_before || !is_covered) {
      at = &other.next;
      continue;
    }
    const std::uint32_t dropped = *at;
    *at = other.next;
    accesses[dropped].next = unused;
    unused = dropped;
  }
  const std::uint32_t fresh = new_access();
  const auto number = static_cast<std::uint32_t>(&first - first_access);
  if (fresh == 0 || (first == 0 && state.explores_itself && !accessed_granules.push(number))) {
    off = true;
    return;
  }
  made.next = first;
  accesses[fresh] = made;
  first = fresh;
}

}  // namespace

void set_up_races(void (*when_found)(std::uintptr_t code, std::uintptr_t other) noexcept) noexcept {
  found = when_found;
  of_thread = static_cast<thread_clocks*>(reserve(0, max_clocks * sizeof(thread_clocks), "clocks of threads"));
  locations = static_cast<location*>(reserve(0, max_locations * sizeof(location), "clocks of atomics"));
  first_access = static_cast<std::uint32_t*>(
      reserve(0, program_end / granule_bytes * sizeof(std::uint32_t), "accesses of threads"));
  accesses.reserve_for(max_accesses, "accesses of threads");
  accessed_granules.reserve_for(2 * max_accesses, "accesses of threads");
  used_locations.reserve_for(max_locations, "clocks of atomics");
  accesses.push({});
  ++of_thread[0].now[0];  // at the time 0, everything comes before
  off = false;
}

void begin_schedule_of_races(race_function when_found) noexcept {
  TXSYNC_SIM_ASSERT(state.live_threads == 1, "the thread that begins a schedule without races is the only one");
  found = when_found;
  for (const std::uint32_t number : accessed_granules) first_access[number] = 0;
  accessed_granules.clear();
  accesses.shrink(1);
  unused = 0;
  for (const std::uint32_t number : used_locations) locations[number] = {};
  used_locations.clear();
  location_count = 0;
  std::fill(of_thread, of_thread + used(), thread_clocks{});
  ++of_thread[0].now[0];
  off = false;
}

bool finds_races() noexcept { return !off; }

void fence_orders(int order) noexcept {
  if (off || state.current == nullptr || state.current->id >= max_clocks) return;
  thread_clocks& mine = clocks_of(*state.current);
  if (acquires(order)) join(mine.now, mine.seen);
  if (!releases(order)) return;
  join(mine.released, mine.now);
  ++mine.now[state.current->id];
}

void synchronize(const thread_record& thread, std::uintptr_t address, const atomic_access& how) noexcept {
  if (state.thread_count > max_clocks || state.attempts != 0) off = true;
  if (off || !how.is_atomic) return;
  const int order = how.order & order_bits;
  thread_clocks& mine = clocks_of(thread);
  const bool hands_over = how.kind != atomic_kind::load && (releases(order) || mine.released[thread.id] != 0) &&
                          state.unjoined_threads != 0;
  location* const at = location_of(address, hands_over);
  if (at == nullptr) return;
  if (how.kind != atomic_kind::store) join(acquires(order) ? mine.now : mine.seen, at->handed_over);
  if (how.kind != atomic_kind::load) hand_over(mine, thread.id, *at, order);
}

void check_race(const thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write, std::uintptr_t code,
                const atomic_access& how) noexcept {
  if (off || address + bytes > program_end) return;
  const clock now = thread.id < max_clocks ? clocks_of(thread).now[thread.id] : 0;
  synchronize(thread, address, how);
  if (off || state.unjoined_threads == 0 || is_standard_stream(address)) return;
  for (std::uintptr_t at = address; at < address + bytes; at = after_granule(at)) {
    const std::uintptr_t granule = at - at % granule_bytes;
    check_granule(thread, first_access[granule / granule_bytes],
                  {.next = 0,
                   .code = static_cast<std::uint32_t>(code),
                   .time = now,
                   .thread = static_cast<std::uint8_t>(thread.id),
                   .bytes = bytes_in(granule, address, bytes),
                   .writes = write,
                   .is_atomic = how.is_atomic},
                  bytes);
    if (off) return;
  }
}

void forget_accesses(std::uintptr_t address, std::size_t bytes) noexcept {
  if (off) return;
  for (std::uintptr_t at = address; at < address + bytes; at = after_granule(at)) {
    std::uint32_t& first = first_access[at / granule_bytes];
    while (first != 0) {
      const std::uint32_t dropped = std::exchange(first, accesses[first].next);
      accesses[dropped].next = unused;
      unused = dropped;
    }
  }
}

void begins_after(const thread_record& child, const thread_record& parent) noexcept {
  if (off || child.id >= max_clocks || parent.id >= max_clocks) return;
  join(clocks_of(child).now, clocks_of(parent).now);
  ++clocks_of(child).now[child.id];
  ++clocks_of(parent).now[parent.id];
}

void goes_on_after(const thread_record& thread, const thread_record& ended) noexcept {
  if (off || ended.id >= max_clocks || thread.id >= max_clocks) return;
  join(clocks_of(thread).now, clocks_of(ended).now);
}

}  // namespace txsync::sim
