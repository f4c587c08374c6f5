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
#include <iterator>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "base/descriptor.hpp"
#include "base/spawn.hpp"
#include "sim/models/plain_text.hpp"

namespace txsync::sim {
namespace {

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

number_options numbers_of(const image_request& request) {
  return {.seed = request.seed,
          .order = static_cast<std::uint64_t>(request.order),
          .store_buffers = request.store_buffers ? 1U : 0U,
          .probes = request.probes,
          .choices = request.choices,
          .learns = request.learns ? 1U : 0U,
          .races = request.finds_races ? 1U : 0U,
          .counts_uses = request.counts_uses ? 1U : 0U,
          .slack_cycles = request.slack_cycles,
          .uncharged_set_up = request.uncharged_set_up ? 1U : 0U,
          .oracle = request.oracle ? 1U : 0U,
          .steps = request.max_steps,
          .limit_us = request.limit_us,
          .trace = request.traces ? 1U : 0U};
}

/// The image's environment: the options of the simulation, and this process's own variables.
std::vector<std::string> environment_of(const image_request& request) {
  std::vector<std::string> list;
  const auto add = [&](const char* name, const std::string& value) { list.push_back(name + ("=" + value)); };
  add(option::model, fmt::format("/proc/self/fd/{}", model_descriptor));
  add(option::records, std::to_string(record_descriptor));
  if (!request.shared_codes.empty())
    add(option::shared_codes, fmt::format("/proc/self/fd/{}", shared_codes_descriptor));
  if (!request.chosen.empty()) add(option::chosen, fmt::format("/proc/self/fd/{}", choices_descriptor));
  if (!request.repeats.empty()) add(option::repeats, request.repeats);
  if (!request.word_uses.empty()) add(option::word_uses, fmt::format("/proc/self/fd/{}", word_uses_descriptor));
  const number_options numbers = numbers_of(request);
  number_options::each_option(numbers,
                              [&](const char* name, std::uint64_t number) { add(name, std::to_string(number)); });
  add(option::elide, request.elides ? "1" : "0");
  if (!request.locks.empty()) add(option::locks, request.locks);
  if (!request.sites.empty()) add(option::sites, request.sites);
  // The options come first. So the addresses of what the image's own code reads do not depend on the other variables.
  for (char** word = environ; *word != nullptr; ++word) {
    if (!std::string_view(*word).starts_with(option::prefix)) list.emplace_back(*word);
  }
  return list;
}

/// A file in memory with these bytes, to be read from its begin.
base::descriptor file_of(const char* name, std::string_view bytes) {
  base::descriptor file = checked(memfd_create(name, MFD_CLOEXEC));
  if (write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      lseek(file.get(), 0, SEEK_SET) != 0) {
    throw image_error(
        fmt::format("cannot hand {} to the simulation: {}", name, std::string_view(std::strerror(errno))));
  }
  return file;
}

/// No file if there are no numbers.
base::descriptor file_of(const char* name, const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return base::descriptor(-1);
  return file_of(
      name, std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::uint64_t)));
}

std::vector<std::uint64_t> numbers_of(const std::vector<word_use>& uses) {
  std::vector<std::uint64_t> numbers;
  for (const word_use& one : uses)
    numbers.insert(numbers.end(), {one.address, one.thread, one.creator, one.count, one.written});
  return numbers;
}

/// A file of this process, and its number in the image's.
struct handed_file {
  int file;
  int becomes;
};

pid_t spawn(const image_request& request, const std::vector<handed_file>& handed, int messages) {
  std::vector<std::string> words{request.path};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = environment_of(request);
  base::spawned_files files;
  // Moved out of the way first, because the descriptors that the image gets may be these.
  int aside = messages + 1;
  for (const handed_file& one : handed) aside = std::max(aside, one.file + 1);
  const int count = static_cast<int>(handed.size());
  for (int i = 0; i < count; ++i) {
    if (handed[i].file >= 0) files.give(handed[i].file, aside + i);
  }
  if (request.runs_alone) {
    files.open("/dev/null", O_RDONLY, STDIN_FILENO);
    files.open("/dev/null", O_WRONLY, STDOUT_FILENO);
  }
  if (request.captures_output) files.give(messages, STDOUT_FILENO);
  if (!request.keeps_error_output) files.give(messages, STDERR_FILENO);
  for (int i = 0; i < count; ++i) {
    if (handed[i].file < 0) continue;
    files.give(aside + i, handed[i].becomes);
    files.close(aside + i);
  }
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

/// Whether a line is such a record. If its words are right, too, take(record) is called.
template <class Record, class Take>
bool is_record(const record_line& line, Take take) {
  if (line.name != Record::record_name) return false;
  if (Record record; get_record(line.words, record)) take(record);
  return true;
}

/// Adds the call chains to all entries with these two places in the code.
void add_calls(const calls_record& calls, std::vector<abort_entry>& aborts) {
  for (abort_entry& entry : aborts) {
    if (entry.own_code != calls.own_code || entry.other_code != calls.other_code) continue;
    entry.own_calls = calls.own;
    entry.other_calls = calls.other;
  }
}

bool is_of_segment(const record_line& line, std::vector<segment>& into) {
  return is_record<segment_begin>(
             line, [&](const segment_begin& one) { into.push_back({.thread = one.thread, .enabled = one.enabled}); }) ||
         is_record<segment_touch>(line,
                                  [&](const segment_touch& one) {
                                    if (!into.empty()) into.back().touches.push_back(one);
                                  }) ||
         is_record<segment_event>(line, [&](const segment_event& one) {
           if (!into.empty()) into.back().events.push_back(one);
         });
}

/// What a thread does once its wait is over.
segment after_wait(const awaited_touch& one) {
  constexpr std::uint32_t whole_word = 0xFF;
  const segment_event_kind kind = one.is_semaphore != 0 ? segment_event_kind::waits_at : segment_event_kind::takes;
  return {.thread = one.thread, .touches = {{one.word, whole_word, one.written}}, .events = {{kind, one.word}}};
}

bool is_of_several_words(const record_line& line, image_result& into) {
  return is_record<abort_record>(line, [&](const abort_record& one) { into.aborts.push_back({one, {}, {}}); }) ||
         is_record<calls_record>(line, [&](const calls_record& one) { add_calls(one, into.aborts); }) ||
         is_record<abort_end>(line, [&](const abort_end& one) { into.ends.push_back(one); }) ||
         is_record<shared_instruction>(line,
                                       [&](const shared_instruction& one) { into.shared_codes.push_back(one.code); }) ||
         is_record<word_use>(line, [&](const word_use& one) { into.word_uses.push_back(one); }) ||
         is_of_segment(line, into.segments) ||
         is_record<awaited_touch>(line, [&](const awaited_touch& one) { into.awaited.push_back(after_wait(one)); }) ||
         is_record<trace_step>(line, [&](const trace_step& one) { into.steps.push_back({one, {}}); }) ||
         is_record<step_values>(line,
                                [&](const step_values& one) {
                                  if (!into.steps.empty()) into.steps.back().values = one;
                                }) ||
         is_record<test_record>(line, [&](const test_record& one) {
           into.tests.push_back({std::string(one.test), std::string(one.expected), std::string(one.summary)});
         });
}

void read_records(std::string_view text, image_result& into) {
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const record_line line = split_record(whole);
    if (line.name == failure_record) {
      into.failure = line.words;
    } else if (line.name == number_record::schedule) {
      into.steps.clear();  // only the last schedule counts
    } else if (!is_of_several_words(line, into)) {
      if (std::uint64_t number = 0; get_number(line.words, number)) into.records[std::string(line.name)] = number;
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

bool image_result::was_interrupted() const { return failure.starts_with(std::string(failure_prefix) + interrupted); }

std::uint64_t image_result::number(const std::string& name) const {
  const auto found = records.find(name);
  return found != records.end() ? found->second : 0;
}

std::uint64_t image_result::program_number(const std::string& name) const {
  return number(number_record::program + name);
}

image_result run_image(const image_request& request) {
  const base::descriptor model = file_of("txsync-sim-model", to_plain_text(request.model));
  const base::descriptor shared_codes = file_of("txsync-sim-shared-codes", request.shared_codes);
  const base::descriptor word_uses = file_of("txsync-sim-word-uses", numbers_of(request.word_uses));
  const base::descriptor chosen = file_of("txsync-sim-choices", request.chosen);
  const pipe_ends record_pipe;
  const pipe_ends message_pipe;
  const base::descriptor records = checked(record_pipe.ends[0]);
  const base::descriptor messages = checked(message_pipe.ends[0]);
  base::descriptor records_in = checked(record_pipe.ends[1]);
  base::descriptor messages_in = checked(message_pipe.ends[1]);
  const pid_t child = spawn(request,
                            {{model.get(), model_descriptor},
                             {records_in.get(), record_descriptor},
                             {shared_codes.get(), shared_codes_descriptor},
                             {word_uses.get(), word_uses_descriptor},
                             {chosen.get(), choices_descriptor}},
                            messages_in.get());
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
    throw image_error(
        fmt::format("the simulation was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
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

void debug_image(const image_request& request) {
  const base::descriptor files[] = {file_of("txsync-sim-model", to_plain_text(request.model)),
                                    file_of("txsync-sim-shared-codes", request.shared_codes),
                                    file_of("txsync-sim-word-uses", numbers_of(request.word_uses)),
                                    file_of("txsync-sim-choices", request.chosen)};
  constexpr int numbers[] = {model_descriptor, shared_codes_descriptor, word_uses_descriptor, choices_descriptor};
  constexpr int count = std::size(numbers);
  constexpr int aside = 100;
  for (int i = 0; i < count; ++i) {
    if (files[i].get() >= 0 && dup3(files[i].get(), aside + i, O_CLOEXEC) < 0) throw image_error(std::strerror(errno));
  }
  for (int i = 0; i < count; ++i) {
    if (files[i].get() >= 0 && dup2(aside + i, numbers[i]) < 0) throw image_error(std::strerror(errno));
  }
  std::vector<std::string> words{"gdb", "-q"};
  for (const std::string& command : {std::string("handle SIGPROF nostop noprint pass"),
                                     std::string("unset environment LINES"), std::string("unset environment COLUMNS"),
                                     std::string("break ") + failure_function, std::string("run < /dev/null")}) {
    words.insert(words.end(), {"-ex", command});
  }
  words.insert(words.end(), {"--args", request.path});
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = environment_of(request);
  std::erase_if(environment, [](const std::string& one) { return one.starts_with(option::records); });
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  execvpe("gdb", pointers(words).data(), pointers(environment).data());
  throw image_error(fmt::format("cannot start gdb: {}", std::string_view(std::strerror(errno))));
}

std::string image_file(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const std::filesystem::path image = (self / "../lib/txsync" / ("txsync-sim-" + name)).lexically_normal();
  if (!std::filesystem::exists(image, error)) {
    throw image_error(fmt::format(
        "this build of txsync has no simulated machine ({} is missing); building it needs GCC 12 for x86-64 "
        "and gcc-12-plugin-dev",
        image.string()));
  }
  return image.string();
}

}  // namespace txsync::sim
