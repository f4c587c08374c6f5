// SPDX-License-Identifier: Apache-2.0
#include "locks/waiting.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/cpu.hpp>

#include "locks/measure.hpp"
#include "observe/document/more_rounds.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

/// The bound as docs/locks/futex_mutex.md states it, with a hand-over of 60 us.
std::uint64_t max_wait_in_line_ns(std::uint64_t threads, std::uint64_t section_ns) {
  return std::max<std::uint64_t>(5'000'000, threads * 500'000) + threads * (60'000 + 3 * section_ns);
}

/// The bound as docs/locks/ticket.md states it, with a hand-over of 1 us in each section.
std::uint64_t max_wait_at_limiter_ns(std::uint64_t threads, std::uint64_t section_ns) {
  const std::uint64_t inside = std::max(machine::cpu_count(), 2u);
  return threads * (2'000'000 + 60'000 + (64 + inside) * (section_ns + 1'000));
}

/// Restricts the process to that many of its CPUs: the last ones, as the first serve most interrupts.
void keep_cpus(unsigned count) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) _exit(127);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    if (count == 0) CPU_CLR(cpu, &allowed);
    if (count != 0) --count;
  }
  if (sched_setaffinity(0, sizeof allowed, &allowed) != 0) _exit(127);
}

[[noreturn]] void become(const waiting_cell& one, const std::vector<std::string>& words, int out) {
  dup2(out, STDOUT_FILENO);
  if (one.cpus != 0) keep_cpus(one.cpus);
#if defined TXSYNC_PRELOAD_LIBRARY
  if (waiting_locks()[one.lock].preloaded) setenv("LD_PRELOAD", TXSYNC_PRELOAD_LIBRARY, 1);
#endif
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

figures read_figures(const std::string& line) {
  figures all;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    std::istringstream values(word.substr(equals + 1));
    for (std::string value; std::getline(values, value, ',');)
      all[word.substr(0, equals)].push_back(std::strtod(value.c_str(), nullptr));
  }
  return all;
}

figures run_once(const waiting_cell& one, std::uint64_t milliseconds, std::uint64_t seed) {
  const std::vector<std::string> words{
      TXSYNC_LOCK_WAITS,           waiting_locks()[one.lock].argument, one.scenario,
      std::to_string(one.threads), std::to_string(one.section_us),     std::to_string(milliseconds),
      std::to_string(seed)};
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe for a run");
  const pid_t child = fork();
  if (child == 0) become(one, words, ends[1]);
  close(ends[1]);
  std::string line;
  char part[4096];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;) line.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (child <= 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("the run failed: " + std::string(waiting_locks()[one.lock].name) + ", " + describe(one));
  return read_figures(line);
}

/// One scenario over the locks that it is for.
struct plan {
  std::string scenario;
  unsigned threads;
  unsigned section_us;
  unsigned cpus;
  std::uint64_t milliseconds;
  unsigned rounds;
};

bool takes_part(const waiting_lock& lock, const std::string& scenario) {
  const bool has_condition = lock.bypass_bound != &ticket_lock::bypass_bound && lock.argument[0] != 's';
  return has_condition || scenario == "ask" || scenario == "loop" || scenario == "wave";
}

std::vector<plan> make_plans(const waiting_request& wanted) {
  const std::uint64_t base = wanted.milliseconds;
  // 6 of 20: an order-statistic interval of 5 values would be one of 93.75 %.
  const unsigned few = std::max(wanted.rounds * 3 / 10, 1u);
  std::vector<plan> all;
  for (const unsigned section_us : {1u, 20u, 100u}) {
    for (const unsigned threads : wanted.threads) {
      if (threads < 2) continue;
      all.push_back({"ask", threads, section_us, 0, 4 * base, wanted.rounds});
      all.push_back({"loop", threads, section_us, 0, 20 * base, few});
    }
  }
  for (const unsigned threads : wanted.crowds) all.push_back({"wave", threads, 1, 0, 6 * base, few});
  for (const char* const pair : {"pair-before", "pair-behind"}) {
    for (const unsigned cpus : {1u, 2u}) all.push_back({pair, 2, 0, cpus, base, wanted.rounds});
  }
  all.push_back({"realtime", 2, 5, 1, 20 * base, few});
  return all;
}

/// One more series of the chosen cells: each as many rounds as its plan has, in turns.
void run_series(const waiting_request& wanted, const std::vector<std::size_t>& chosen,
                const std::vector<const plan*>& plan_of, std::vector<waiting_cell>& cells) {
  unsigned longest = 0;
  for (const std::size_t i : chosen) longest = std::max(longest, plan_of[i]->rounds);
  for (unsigned round = 0; round < longest && !interrupted(); ++round) {
    const auto due = [&](std::size_t i) { return round < plan_of[i]->rounds; };
    std::fprintf(stderr, "waiting, %sround %u of %u: %zu runs\n",
                 chosen.size() < cells.size() ? "undecided claims, " : "", round + 1, longest,
                 static_cast<std::size_t>(std::count_if(chosen.begin(), chosen.end(), due)));
    for (const std::size_t i : chosen) {
      std::vector<figures>& rounds = cells[i].rounds;
      if (due(i)) rounds.push_back(run_once(cells[i], plan_of[i]->milliseconds, wanted.seed + rounds.size()));
    }
  }
}

/// The undecided claims, each from the cells alone that more rounds may decide.
std::vector<observe::claim> undecided_claims(const std::vector<waiting_cell>& cells) {
  std::vector<observe::claim> claims;
  for (waiting_claim& one : waiting_claims(cells)) {
    one.claim.from = std::move(one.undecided);
    claims.push_back(std::move(one.claim));
  }
  return claims;
}

}  // namespace

const std::vector<waiting_lock>& waiting_locks() {
  static const std::vector<waiting_lock> all{
      {"txsync::mutex", "txsync::mutex", false, futex_mutex::bypass_bound, max_wait_in_line_ns},
#if defined TXSYNC_PRELOAD_LIBRARY
      {"preloaded mutex", "pthread", true, futex_mutex::bypass_bound, max_wait_in_line_ns},
#endif
      {"spinning_mutex", "spinning_mutex", false, spinning_mutex::bypass_bound, max_wait_in_line_ns},
      {"ticket", "ticket", false, ticket_lock::bypass_bound, max_wait_at_limiter_ns},
      {"pthread_mutex", "pthread", false, nullptr, nullptr}};
  return all;
}

std::size_t reference_lock() { return waiting_locks().size() - 1; }

std::vector<double> waiting_cell::all(const char* name) const {
  std::vector<double> values;
  for (const figures& round : rounds) {
    if (const auto found = round.find(name); found != round.end() && !found->second.empty())
      values.push_back(found->second.front());
  }
  return values;
}

std::string describe(const waiting_cell& one) {
  std::string text = one.scenario + ", " + std::to_string(one.threads) + " threads";
  if (one.section_us != 0) text += ", " + std::to_string(one.section_us) + " us";
  if (one.cpus != 0) text += one.cpus == 1 ? ", 1 CPU" : ", " + std::to_string(one.cpus) + " CPUs";
  return text;
}

std::vector<waiting_cell> measure_waiting(const waiting_request& wanted) {
  const std::vector<plan> plans = make_plans(wanted);
  std::vector<waiting_cell> cells;
  std::vector<const plan*> plan_of;
  for (const plan& one : plans) {
    for (std::size_t lock = 0; lock < waiting_locks().size(); ++lock) {
      if (!takes_part(waiting_locks()[lock], one.scenario)) continue;
      cells.push_back({one.scenario, lock, one.threads, one.section_us, one.cpus, {}});
      plan_of.push_back(&one);
    }
  }
  std::vector<std::size_t> chosen(cells.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  observe::more_rounds more(cells.size());
  while (!chosen.empty() && !interrupted()) {
    run_series(wanted, chosen, plan_of, cells);
    if (!wanted.until_decided || interrupted()) break;
    chosen = more.next(undecided_claims(cells));
  }
  return cells;
}

const waiting_cell* reference_of(const std::vector<waiting_cell>& cells, const waiting_cell& one) {
  for (const waiting_cell& other : cells) {
    if (other.lock == reference_lock() && describe(other) == describe(one)) return &other;
  }
  return nullptr;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks
