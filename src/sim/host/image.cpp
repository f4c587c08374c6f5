// SPDX-License-Identifier: Apache-2.0
#include "sim/host/image.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/spawn.hpp"
#include "sim/models/plain_text.hpp"

namespace txsync::sim {
namespace {

constexpr int model_file = 3;  ///< descriptors in the image
constexpr int record_file = 4;
constexpr int failure_status = 99;  ///< runtime/failure.hpp

base::descriptor checked(int number) {
  if (number < 0) throw image_error("cannot start a simulation: " + std::string(std::strerror(errno)));
  return base::descriptor(number);
}

struct pipe_ends {
  int ends[2] = {-1, -1};
  pipe_ends() {
    if (pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
  }
};

/// The image's environment: the options of the simulation, and this process's own variables.
std::vector<std::string> environment_of(const image_request& request) {
  std::vector<std::string> list;
  const auto add = [&](const char* name, std::uint64_t value) {
    list.push_back("TXSYNC_SIM_" + std::string(name) + "=" + std::to_string(value));
  };
  list.push_back("TXSYNC_SIM_MODEL=/proc/self/fd/" + std::to_string(model_file));
  add("RECORDS", record_file);
  add("SEED", request.seed);
  add("ORDER", static_cast<std::uint64_t>(request.order));
  add("STORE_BUFFERS", request.store_buffers ? 1 : 0);
  add("PROBES", request.probes);
  add("CHOICES", request.choices);
  add("SLACK", request.slack_cycles);
  add("UNCHARGED", request.uncharged_set_up ? 1 : 0);
  add("ORACLE", request.oracle ? 1 : 0);
  add("STEPS", request.max_steps);
  add("LIMIT_US", request.limit_us);
  add("TRACE", request.traces ? 1 : 0);
  add("ELIDE", request.elides ? 1 : 0);
  if (!request.locks.empty()) list.push_back("TXSYNC_SIM_LOCKS=" + request.locks);
  if (!request.sites.empty()) list.push_back("TXSYNC_SIM_SITES=" + request.sites);
  // The options come first. So the addresses of what the image's own code reads do not depend on the other variables.
  for (char** word = environ; *word != nullptr; ++word) {
    if (std::strncmp(*word, "TXSYNC_SIM_", 11) != 0) list.emplace_back(*word);
  }
  return list;
}

void write_model(const machine_model& model, int file) {
  const std::string text = to_plain_text(model);
  if (write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()) || lseek(file, 0, SEEK_SET) != 0) {
    throw image_error("cannot hand the machine's numbers to the simulation: " + std::string(std::strerror(errno)));
  }
}

pid_t spawn(const image_request& request, int model, int records, int messages) {
  std::vector<std::string> words{request.path};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = environment_of(request);
  base::spawned_files files;
  // Moved out of the way first, because the descriptors that the image gets may be these.
  constexpr int aside = 100;
  files.give(model, aside);
  files.give(records, aside + 1);
  if (request.runs_alone) {
    files.open("/dev/null", O_RDONLY, STDIN_FILENO);
    files.open("/dev/null", O_WRONLY, STDOUT_FILENO);
  }
  if (request.captures_output) files.give(messages, STDOUT_FILENO);
  if (!request.keeps_error_output) files.give(messages, STDERR_FILENO);
  files.give(aside, model_file);
  files.give(aside + 1, record_file);
  files.close(aside);
  files.close(aside + 1);
  try {
    return base::spawn(request.path, words, environment, files);
  } catch (const std::system_error& error) {
    throw image_error("cannot start " + request.path + ": " + std::strerror(error.code().value()));
  }
}

/// Reads both pipes to their ends. False if a signal came first. Also false if nothing came for `patience_ms` and
/// `stop` returned true.
bool gather(int records, int messages, std::string& record_text, std::string& message_text, int patience_ms,
            bool (*stop)() noexcept) {
  pollfd files[] = {{.fd = records, .events = POLLIN, .revents = 0}, {.fd = messages, .events = POLLIN, .revents = 0}};
  std::string* const texts[] = {&record_text, &message_text};
  char buffer[1 << 16];
  for (int open = 2; open != 0;) {
    const int ready = poll(files, 2, patience_ms);
    if (ready == 0 && !stop()) continue;
    if (ready <= 0) return false;
    for (int i = 0; i < 2; ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      const ssize_t part = read(files[i].fd, buffer, sizeof buffer);
      if (part > 0) {
        texts[i]->append(buffer, static_cast<std::size_t>(part));
      } else {
        files[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

/// Ends the image. Before that, it may say where its threads are.
void end_early(pid_t child, int records, int messages, std::string& record_text, std::string& message_text) {
  constexpr int time_to_speak_ms = 3'000;
  kill(child, SIGTERM);
  (void)gather(records, messages, record_text, message_text, time_to_speak_ms, []() noexcept { return true; });
  kill(child, SIGKILL);
}

data_place read_place(std::istream& words) {
  data_place place;
  unsigned kind = 0;
  words >> std::dec >> kind >> std::hex >> place.whose >> std::dec >> place.start >> place.bytes >> place.offset;
  place.kind = static_cast<data_kind>(kind);
  return place;
}

/// Converts `lack` of runtime/attempts.hpp.
occupancy::what crowded(unsigned lack) {
  if (lack == 3) return occupancy::what::entries;
  if (lack == 4) return occupancy::what::read_ways;
  return lack == 5 ? occupancy::what::reads : occupancy::what::written_ways;
}

abort_entry read_abort(std::istream& words) {
  abort_entry entry;
  words >> entry.cause >> entry.count >> std::hex >> entry.own_code >> entry.other_code >> entry.address;
  words >> std::dec >> entry.apart;
  entry.own = read_place(words);
  entry.met = read_place(words);
  unsigned lack = 0;
  words >> lack >> entry.crowd.set >> entry.crowd.own >> entry.crowd.siblings >> entry.crowd.room;
  entry.crowd.of = crowded(lack);
  return entry;
}

std::vector<std::uint64_t> read_chain(std::istream& words) {
  std::size_t count = 0;
  constexpr std::size_t most = 64;
  words >> std::dec >> count >> std::hex;
  std::vector<std::uint64_t> chain(std::min(count, most));
  for (std::uint64_t& code : chain) words >> code;
  return chain;
}

/// Adds the call chains to all entries with these two places in the code.
void read_calls(std::istream& words, std::vector<abort_entry>& aborts) {
  std::uint64_t own = 0;
  std::uint64_t other = 0;
  words >> std::hex >> own >> other;
  const std::vector<std::uint64_t> own_calls = read_chain(words);
  const std::vector<std::uint64_t> other_calls = read_chain(words);
  for (abort_entry& entry : aborts) {
    if (entry.own_code != own || entry.other_code != other) continue;
    entry.own_calls = own_calls;
    entry.other_calls = other_calls;
  }
}

void read_records(const std::string& text, image_result& into) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "failure") {
      into.failure = line.substr(name.size() + 1);
    } else if (name == "abort") {
      into.aborts.push_back(read_abort(words));
    } else if (name == "calls") {
      read_calls(words, into.aborts);
    } else if (name == "ended") {
      abort_end end;
      words >> std::hex >> end.code >> end.caller >> std::dec >> end.count;
      into.ends.push_back(end);
    } else if (name == "schedule") {
      into.steps.clear();  // only the last schedule counts
    } else if (name == "step") {
      trace_step step;
      words >> step.thread >> std::hex >> step.code >> step.what >> step.address;
      into.steps.push_back(std::move(step));
    } else if (!name.empty()) {
      words >> into.records[name];
    }
  }
  std::stable_sort(into.aborts.begin(), into.aborts.end(),
                   [](const abort_entry& a, const abort_entry& b) { return a.count > b.count; });
}

}  // namespace

std::string image_result::last_message() const {
  const std::string text = messages.substr(0, messages.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

std::uint64_t image_result::number(const std::string& name) const {
  const auto found = records.find(name);
  return found != records.end() ? found->second : 0;
}

image_result run_image(const image_request& request) {
  const base::descriptor model = checked(memfd_create("txsync-sim-model", MFD_CLOEXEC));
  write_model(request.model, model.get());
  const pipe_ends record_pipe;
  const pipe_ends message_pipe;
  const base::descriptor records = checked(record_pipe.ends[0]);
  const base::descriptor messages = checked(message_pipe.ends[0]);
  base::descriptor records_in = checked(record_pipe.ends[1]);
  base::descriptor messages_in = checked(message_pipe.ends[1]);
  const pid_t child = spawn(request, model.get(), records_in.get(), messages_in.get());
  records_in.reset();
  messages_in.reset();
  std::string record_text;
  image_result result;
  constexpr int tenth_of_a_second_ms = 100;
  const bool ended = gather(records.get(), messages.get(), record_text, result.messages,
                            request.stop != nullptr ? tenth_of_a_second_ms : -1, request.stop);
  if (!ended) end_early(child, records.get(), messages.get(), record_text, result.messages);
  const int status = base::wait_for(child);
  read_records(record_text, result);
  if (!ended) throw image_error(result.failure.empty() ? "interrupted" : result.failure);
  if (WIFSIGNALED(status) && request.failure_is_a_result) {
    result.signal = WTERMSIG(status);
    return result;
  }
  if (WIFSIGNALED(status)) {
    throw image_error("the simulation was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                      strsignal(WTERMSIG(status)) + ")");
  }
  result.status = WEXITSTATUS(status);
  // Without a failure record, the image could not read its options, or the status is the program's own.
  if (result.failure.empty() && result.status == failure_status && !request.keeps_error_output) {
    const std::string said = result.last_message();
    result.failure = said.empty() ? "it said nothing" : said;
  }
  if (!result.failure.empty() && !request.failure_is_a_result) throw image_error(result.failure);
  return result;
}

std::string image_file(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const std::filesystem::path image = (self / "../lib/txsync" / ("txsync-sim-" + name)).lexically_normal();
  if (!std::filesystem::exists(image, error)) {
    throw image_error("this txsync has no simulated machine (" + image.string() +
                      " is missing); building it needs GCC 12 for x86-64 and gcc-12-plugin-dev");
  }
  return image.string();
}

}  // namespace txsync::sim
