// SPDX-License-Identifier: Apache-2.0
// The protocol between a simulated program's process (the image) and the process that starts it (the host). Whatever
// both must know is here, once. The runtime (src/sim/runtime), the host (src/sim/host) and code of simulated programs
// include this file, so it needs no library.
//
//   host -> image   options in the environment; the machine's numbers (model.hpp) in a file
//   image -> host   records, one a line, in a pipe; the exit status
//
// A record is a name and words. Most records are "NAME NUMBER" (namespace number_record). The others are structs. The
// function each_word() of such a struct lists its words in their order. Writer and reader both go through it.
//
// If a record or an option changes its meaning, machine_interface has to change. A new record or option is no such
// change: a reader ignores what it does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "learnt_records.hpp"
#include "schedules.hpp"

namespace txsync::sim {

// ---- the process

/// By this section, a reader of the file knows that it is a program for this machine, stripped or not. It contains the
/// number.
#define TXSYNC_SIM_MACHINE_SECTION ".txsync.machine"
inline constexpr std::uint32_t machine_interface = 1;

/// Descriptors that the host opens for the image.
inline constexpr int model_descriptor = 3;
inline constexpr int record_descriptor = 4;
inline constexpr int shared_codes_descriptor = 5;
inline constexpr int word_uses_descriptor = 6;
inline constexpr int choices_descriptor = 7;

/// The exit status of an image whose simulation failed. The program's own exit status is another matter.
inline constexpr int failure_status = 99;

// ---- options

/// What an exploration does besides ordering steps, as bits.
enum probe : unsigned {
  spurious_aborts = 1,    ///< attempts end without a reason
  tight_capacity = 2,     ///< attempts end when they bring in one line too many: the first to the eighth
  weak_exchanges = 4,     ///< weak compare-exchanges fail without a reason
  late_subscription = 8,  ///< the line that an attempt reads first is watched only some accesses later
  spurious_wakes = 16,    ///< a thread that goes to sleep is awake again at once, woken by nobody
};

/// Names of the environment variables that contain the options.
namespace option {
inline constexpr char prefix[] = "TXSYNC_SIM_";
inline constexpr char model[] = "TXSYNC_SIM_MODEL";      ///< path of the machine's numbers; without it nothing runs
inline constexpr char records[] = "TXSYNC_SIM_RECORDS";  ///< descriptor; without it there are no records
/// In exploring orders: path of the numbers of the shared_instructions that earlier runs have recorded, as words of the
/// machine. Without it there are none.
inline constexpr char shared_codes[] = "TXSYNC_SIM_SHARED_CODES";
/// In the order uniform_walk: path of the word_uses that earlier runs have recorded, each member a word of the machine.
inline constexpr char word_uses[] = "TXSYNC_SIM_WORD_USES";
/// In the order systematic: path of the choices that the host makes (runtime/systematic.hpp). Without it there are none.
inline constexpr char chosen[] = "TXSYNC_SIM_CHOSEN";
/// Of a program that explores itself: the name of the exploration of which one schedule is repeated. Nothing else is
/// explored.
inline constexpr char repeats[] = "TXSYNC_SIM_REPEATS";
/// Set by users: how many schedules each exploration of such a program has, whatever it asks for.
inline constexpr char own_schedules[] = "TXSYNC_EXPLORE_SCHEDULES";
// What the program itself reads:
inline constexpr char elide[] = "TXSYNC_SIM_ELIDE";  ///< its pthread mutexes: "1", or a policy's word for elision
inline constexpr char locks[] = "TXSYNC_SIM_LOCKS";  ///< its pthread locks: keys and words of policy files
inline constexpr char sites[] = "TXSYNC_SIM_SITES";  ///< its named sites (observe/simulated_policies.hpp)
// Set by tests alone:
inline constexpr char variant[] = "TXSYNC_SIM_VARIANT";  ///< a number by which the program chooses a variant of itself
inline constexpr char patience[] = "TXSYNC_SIM_PATIENCE";  ///< CPU seconds without progress, after which it fails
}  // namespace option

/// The options that are numbers. Those that are 0 or 1 say whether.
struct number_options {
  std::uint64_t seed = 1;
  std::uint64_t order = 0;          ///< schedule_order
  std::uint64_t store_buffers = 0;  ///< in exploring orders: stores wait until the order lets them out
  std::uint64_t probes = 0;         ///< in exploring orders: bits of `probe`
  /// In exploring orders: the run is one schedule with about this many choices. 0: the program says where its schedules
  /// begin.
  std::uint64_t choices = 0;
  std::uint64_t learns = 0;            ///< in such a run: each access is a step, and shared_instructions are recorded
  std::uint64_t races = 0;             ///< in such a run: a data race is a fault
  std::uint64_t counts_uses = 0;       ///< in such a run: word_uses are recorded
  std::uint64_t slack_cycles = 0;      ///< how far a thread may run ahead with accesses that concern no other
  std::uint64_t uncharged_set_up = 0;  ///< the set-up of workloads takes no time and leaves caches cold
  std::uint64_t oracle = 0;            ///< the simulation checks itself
  std::uint64_t steps = 0;             ///< of a run or schedule, beyond which it is a livelock; 0: no bound
  std::uint64_t limit_us = 0;          ///< of virtual time, after which the simulation fails; 0: no limit
  std::uint64_t trace = 0;             ///< each step is a record

  /// Calls each(NAME, NUMBER). The environment has them in this order.
  template <class Self, class Each>
  static constexpr void each_option(Self& self, Each each) {
    each("TXSYNC_SIM_SEED", self.seed);
    each("TXSYNC_SIM_ORDER", self.order);
    each("TXSYNC_SIM_STORE_BUFFERS", self.store_buffers);
    each("TXSYNC_SIM_PROBES", self.probes);
    each("TXSYNC_SIM_CHOICES", self.choices);
    each("TXSYNC_SIM_LEARNS", self.learns);
    each("TXSYNC_SIM_RACES", self.races);
    each("TXSYNC_SIM_COUNTS_USES", self.counts_uses);
    each("TXSYNC_SIM_SLACK", self.slack_cycles);
    each("TXSYNC_SIM_UNCHARGED", self.uncharged_set_up);
    each("TXSYNC_SIM_ORACLE", self.oracle);
    each("TXSYNC_SIM_STEPS", self.steps);
    each("TXSYNC_SIM_LIMIT_US", self.limit_us);
    each("TXSYNC_SIM_TRACE", self.trace);
  }
};

// ---- records of one number

/// Their names.
namespace number_record {
inline constexpr char time_cycles[] = "time_cycles";    ///< virtual time at the end
inline constexpr char threads[] = "threads";            ///< how many were ever there at once
inline constexpr char switches[] = "switches";          ///< between threads
inline constexpr char slow_accesses[] = "visits";       ///< accesses that the filter of the thread did not answer
inline constexpr char accesses[] = "accesses";          ///< all
inline constexpr char choices[] = "choices";            ///< that the last schedule had; in exploring orders
inline constexpr char steps[] = "steps";                ///< all; in exploring orders
inline constexpr char races_unseen[] = "races_unseen";  ///< 1: at some time, races were no longer looked for
inline constexpr char redundant[] = "redundant";        ///< 1: in the order systematic, the run would repeat another
inline constexpr char unexplorable[] = "unexplorable";  ///< 1: the failure is that order's, and not the program's
inline constexpr char own_explorations[] = "own_explorations";  ///< txsync::explore() has run its body once
inline constexpr char end_hash[] = "end_hash";
inline constexpr char attempts_begun[] = "attempts.begun";
inline constexpr char attempts_committed[] = "attempts.committed";
inline constexpr char committed_cycles[] = "attempts.committed_cycles";
inline constexpr char aborted_cycles[] = "attempts.aborted_cycles";
inline constexpr char aborts[] = "aborts.";             ///< prefix of a cause's name: attempts that ended for it
inline constexpr char program[] = "program.";           ///< prefix of the names that the program itself records
inline constexpr char schedule[] = "schedule";          ///< the seed of the schedule that begins; if steps are traced
inline constexpr char library_code[] = "library_code";  ///< an address in the program library; likewise
}  // namespace number_record

/// Names of what txsync's own images record by txsync_sim_record(). Records have them after number_record::program.
namespace program_record {
// Workloads:
inline constexpr char operations[] = "operations";
inline constexpr char elapsed_ns[] = "elapsed_ns";
inline constexpr char fewest[] = "fewest";        ///< operations of the thread that did the fewest
inline constexpr char most[] = "most";            ///< of the one that did the most
inline constexpr char data_hash[] = "data_hash";  ///< of the workload's data at its end
// Explorations:
inline constexpr char schedules[] = "schedules";  ///< how many were run
inline constexpr char failed_seed[] = "failed";   ///< of the schedule in which a fault was found; also of any program's
}  // namespace program_record

/// The image calls this function when its simulation cannot continue: a place for breakpoints.
inline constexpr char failure_function[] = "txsync_sim_failed";
/// The last record of a simulation that cannot continue: this name, and a text for people.
inline constexpr char failure_record[] = "failure";
/// How that text begins, and how it goes on if a signal has asked the image to end.
inline constexpr char failure_prefix[] = "txsync sim: ";
inline constexpr char interrupted[] = "interrupted:";

// ---- what records say

/// Why an attempt ended. The names are those of the abort causes everywhere.
enum class cause : std::uint8_t {
  conflict,
  capacity_read,
  capacity_write,
  explicit_abort,
  lock_busy,  ///< explicit, with the code for a subscribed lock that was held
  nested,
  interrupt,
  syscall,
  fault,
  unfriendly_instruction,
  spurious,
  always,  ///< the end of an always-abort attempt
};
inline constexpr unsigned causes = 12;

constexpr const char* name_of(cause why) noexcept {
  constexpr const char* names[causes] = {
      "conflict", "capacity-read", "capacity-write",         "explicit", "lock-busy", "nested", "interrupt",
      "syscall",  "fault",         "unfriendly-instruction", "spurious", "always"};
  return names[static_cast<unsigned>(why)];
}

/// What a thread does in a step. From `aborts` on: its attempt ends, for the cause that is added to it. `asks` to
/// `gives_up` are calls of pthread with a lock, at the program's place; `awaits` to `notifies_all` with a condition.
/// `frees`: a block of the heap, in the program's own code.
enum class step_kind : std::uint8_t {
  reads,
  writes,
  buffers,
  drains,
  begins,
  commits,
  sleeps,
  wakes,
  asks,
  takes,
  takes_shared,
  gives_up,
  awaits,
  notifies,
  notifies_all,
  frees,
  aborts
};
inline constexpr unsigned step_kinds = static_cast<unsigned>(step_kind::aborts) + causes;

constexpr step_kind aborts_for(cause why) noexcept {
  return static_cast<step_kind>(static_cast<unsigned>(step_kind::aborts) + static_cast<unsigned>(why));
}

/// "reads", or the cause of an abort.
constexpr const char* name_of(step_kind what) noexcept {
  constexpr const char* names[] = {"reads",  "writes",   "buffers",      "drains", "begins",       "commits",
                                   "sleeps", "wakes",    "asks",         "takes",  "takes-shared", "gives-up",
                                   "awaits", "notifies", "notifies-all", "frees"};
  if (what < step_kind::aborts) return names[static_cast<unsigned>(what)];
  return name_of(static_cast<cause>(static_cast<unsigned>(what) - static_cast<unsigned>(step_kind::aborts)));
}

/// Which kind of memory is at an address of the program's.
enum class data_kind : std::uint8_t { unknown, image, heap, mapped, stack, thread_local_data };
inline constexpr unsigned data_kinds = 6;

/// What is at an address of the program's memory, as far as the runtime knows.
struct data_place {
  data_kind kind = data_kind::unknown;
  std::uint32_t whose = 0;   ///< heap: the code that allocated it, 0 if not known; stack, thread-local data: the thread
  std::uint64_t start = 0;   ///< of a heap block
  std::uint64_t bytes = 0;   ///< of that block
  std::uint64_t offset = 0;  ///< from the start; image: the address

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.choice(self.kind, data_kinds);
    words.address(self.whose);
    words.number(self.start);
    words.number(self.bytes);
    words.number(self.offset);
  }
};

/// The resource that was full.
enum class overflow_kind : std::uint8_t {
  other,
  l1_set,           ///< the ways of an L1 set; counted are lines that attempts have written
  rest_of_l1_set,   ///< likewise, less the ways that co-resident code takes
  entries,          ///< the entries of a table that the core's hardware threads share
  l1_set_of_reads,  ///< the ways of a set that a read line has left; counted are lines that attempts have touched
  reads,            ///< the lines that an attempt can read
};
inline constexpr unsigned overflow_kinds = 6;

constexpr const char* name_of(overflow_kind what) noexcept {
  constexpr const char* names[overflow_kinds] = {"other",   "l1-set",          "rest-of-l1-set",
                                                 "entries", "l1-set-of-reads", "reads"};
  return names[static_cast<unsigned>(what)];
}
/// Whether the resource is one set of the L1.
constexpr bool is_set(overflow_kind what) noexcept {
  return what == overflow_kind::l1_set || what == overflow_kind::rest_of_l1_set ||
         what == overflow_kind::l1_set_of_reads;
}

/// How full the resource was in which an attempt had no room.
struct occupancy {
  overflow_kind of = overflow_kind::other;
  std::uint32_t set = 0;       ///< of the L1, if the resource is a set
  std::uint32_t own = 0;       ///< of the attempt itself
  std::uint32_t siblings = 0;  ///< of attempts of the core's other hardware threads
  std::uint32_t room = 0;      ///< ways of the set, entries, or lines that can be read; 0: not known

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.choice(self.of, overflow_kinds);
    words.number(self.set);
    words.number(self.own);
    words.number(self.siblings);
    words.number(self.room);
  }
};

/// Places in the code, from the innermost function of the program outwards: the instruction after each call. For the
/// innermost function it is the one after the access.
struct call_chain {
  static constexpr unsigned max_calls = 16;

  std::uint64_t codes[max_calls] = {};
  unsigned count = 0;

  const std::uint64_t* begin() const noexcept { return codes; }
  const std::uint64_t* end() const noexcept { return codes + count; }

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.size(self.count, max_calls);
    for (unsigned i = 0; i < self.count; ++i) words.address(self.codes[i]);
  }
};

// ---- records of several words

/// Attempts that ended for one cause, at one line, because of two places in the code.
struct abort_record {
  static constexpr char record_name[] = "abort";
  cause why = cause::conflict;
  std::uint64_t count = 0;
  /// The access that brought the line into the attempt, or where the attempt ended; 0: not known.
  std::uint64_t own_code = 0;
  std::uint64_t other_code = 0;  ///< the conflicting access of the other thread; 0: none
  std::uint64_t address = 0;     ///< of the line; 0: none
  /// Of `count`: conflicts at bytes that the attempt is not known to have touched.
  std::uint64_t false_sharing_hits = 0;
  data_place own;          ///< of the first such abort: what the attempt had touched; unknown if `conflicting` says it
  data_place conflicting;  ///< what the other access touched, or what the attempt had no room for
  sim::occupancy occupancy;

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.name(self.why, causes);
    words.number(self.count);
    words.address(self.own_code);
    words.address(self.other_code);
    words.address(self.address);
    words.number(self.false_sharing_hits);
    data_place::each_word(self.own, words);
    data_place::each_word(self.conflicting, words);
    sim::occupancy::each_word(self.occupancy, words);
  }
};

/// The call chains of the first abort between two places in the code. It comes after the abort_records of these.
struct calls_record {
  static constexpr char record_name[] = "calls";
  std::uint32_t own_code = 0;
  std::uint32_t other_code = 0;
  call_chain own;    ///< where the attempt was when it ended
  call_chain other;  ///< where the thread was that ended it

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.address(self.own_code);
    words.address(self.other_code);
    call_chain::each_word(self.own, words);
    call_chain::each_word(self.other, words);
  }
};

/// Where attempts were when they ended, estimated from some of the aborts.
struct abort_end {
  static constexpr char record_name[] = "ended";
  std::uint64_t code = 0;    ///< the instruction after the one that the attempt had reached
  std::uint64_t caller = 0;  ///< the instruction after the call of that function; 0: not known
  std::uint64_t count = 0;   ///< aborts

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.address(self.code);
    words.address(self.caller);
    words.number(self.count);
  }
};

/// What one thread did at one place, in a traced run.
struct trace_step {
  static constexpr char record_name[] = "step";
  std::uint32_t thread = 0;
  std::uint64_t code = 0;
  step_kind what = step_kind::reads;
  std::uint64_t address = 0;

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.number(self.thread);
    words.address(self.code);
    words.name(self.what, step_kinds);
    words.address(self.address);
  }
};

/// What was at the address of the trace_step before, an access of up to 8 bytes. They are the lowest bytes of a word of
/// the machine. If the step is no write, both values are the same.
struct step_values {
  static constexpr char record_name[] = "values";
  std::uint32_t bytes = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.number(self.bytes);
    words.number(self.before);
    words.number(self.after);
  }
};

/// A test that the image contains. The texts are those of the line that was read.
struct test_record {
  static constexpr char record_name[] = "test";
  std::string_view test;      ///< its name, one word
  std::string_view expected;  ///< "right", "broken", or "broken-with-MODE", which is right without that mode
  std::string_view summary;   ///< the rest of the line

  template <class Self, class Words>
  static constexpr void each_word(Self& self, Words& words) {
    words.word(self.test);
    words.word(self.expected);
    words.rest(self.summary);
  }
};

// ---- writing and reading

/// Writes words to a line: a type with `<<` for texts and numbers, and hexadecimal().
template <class Line>
class word_writer {
 public:
  explicit word_writer(Line& line) noexcept : line_(line) {}

  void number(std::uint64_t value) noexcept { line_ << " " << value; }
  void address(std::uint64_t value) noexcept { (line_ << " ").hexadecimal(value); }
  void size(std::uint64_t value, unsigned) noexcept { number(value); }
  template <class Enum>
  void choice(Enum value, unsigned) noexcept {
    number(static_cast<std::uint64_t>(value));
  }
  template <class Enum>
  void name(Enum value, unsigned) noexcept {
    line_ << " " << name_of(value);
  }
  void word(std::string_view text) noexcept { line_ << " " << text; }
  void rest(std::string_view text) noexcept { line_ << " " << text; }

 private:
  Line& line_;
};

/// Reads words. After one that is not as it should be, all() is false and the other words stay as they were.
class word_reader {
 public:
  explicit constexpr word_reader(std::string_view words) noexcept : left_(words) {}

  /// Whether every word was there and right, and no word is left.
  constexpr bool all() const noexcept { return right_ && left_.empty(); }

  template <class Number>
  constexpr void number(Number& into) noexcept {
    take(into, word_of_base(10), static_cast<Number>(~Number{0}));
  }
  template <class Number>
  constexpr void address(Number& into) noexcept {
    take(into, word_of_base(16), static_cast<Number>(~Number{0}));
  }
  constexpr void size(unsigned& into, unsigned max) noexcept { take(into, word_of_base(10), max); }
  template <class Enum>
  constexpr void choice(Enum& into, unsigned count) noexcept {
    unsigned value = 0;
    take(value, word_of_base(10), count - 1);
    if (right_) into = static_cast<Enum>(value);
  }
  template <class Enum>
  constexpr void name(Enum& into, unsigned count) noexcept {
    const std::string_view text = next();
    for (unsigned i = 0; i < count; ++i) {
      if (text != name_of(static_cast<Enum>(i))) continue;
      if (right_) into = static_cast<Enum>(i);
      return;
    }
    right_ = false;
  }
  constexpr void word(std::string_view& into) noexcept {
    const std::string_view text = next();
    if (right_) into = text;
  }
  constexpr void rest(std::string_view& into) noexcept {
    if (right_) into = left_;
    left_ = {};
  }

 private:
  constexpr std::string_view next() noexcept {
    const std::size_t length = left_.find(' ') < left_.size() ? left_.find(' ') : left_.size();
    const std::string_view word = left_.substr(0, length);
    left_.remove_prefix(length < left_.size() ? length + 1 : length);
    right_ = right_ && !word.empty();
    return word;
  }

  static constexpr unsigned value_of(char digit) noexcept {
    if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
    return digit >= 'a' && digit <= 'f' ? static_cast<unsigned>(digit - 'a') + 10 : 16;
  }

  constexpr std::uint64_t word_of_base(unsigned base) noexcept {
    std::string_view digits = next();
    if (base == 16) {
      right_ = right_ && digits.starts_with("0x");
      digits.remove_prefix(right_ ? 2 : 0);
    }
    right_ = right_ && !digits.empty();
    std::uint64_t value = 0;
    for (const char digit : digits) {
      right_ = right_ && value_of(digit) < base && value <= (~std::uint64_t{0} - value_of(digit)) / base;
      value = value * base + value_of(digit);
    }
    return value;
  }

  template <class Number>
  constexpr void take(Number& into, std::uint64_t value, Number max) noexcept {
    right_ = right_ && value <= max;
    if (right_) into = static_cast<Number>(value);
  }

  std::string_view left_;
  bool right_ = true;
};

/// Writes a record of several words, with the line feed.
template <class Line, class Record>
void put_record(Line& line, const Record& record) noexcept {
  word_writer<Line> words(line);
  line << Record::record_name;
  Record::each_word(record, words);
  line << "\n";
}

/// Writes a record of one number, with the line feed. `group` is a prefix of the name, or empty.
template <class Line>
void put_number(Line& line, const char* group, const char* name, std::uint64_t value) noexcept {
  word_writer<Line> words(line);
  line << group << name;
  words.number(value);
  line << "\n";
}

/// The first word of a record, and the rest, which the functions below read.
struct record_line {
  std::string_view name;
  std::string_view words;
};
constexpr record_line split_record(std::string_view line) noexcept {
  const std::size_t end = line.find(' ');
  if (end == std::string_view::npos) return {line, {}};
  return {line.substr(0, end), line.substr(end + 1)};
}

/// False if the words are not those of such a record. Then `into` has no meaning.
template <class Record>
constexpr bool get_record(std::string_view words, Record& into) noexcept {
  word_reader reader(words);
  Record::each_word(into, reader);
  return reader.all();
}

constexpr bool get_number(std::string_view words, std::uint64_t& into) noexcept {
  word_reader reader(words);
  reader.number(into);
  return reader.all();
}

}  // namespace txsync::sim
