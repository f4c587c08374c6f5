// SPDX-License-Identifier: Apache-2.0
// Counts the words of many texts with eight threads, which share a dictionary. Each lock is a policy_mutex: the policy
// of its site names its algorithm. The dictionary's policy is wrong on purpose. `ticket` serves in order of arrival.
// With more threads than cores, each turn then waits for a thread to wake up. The default, a mutex, is right.
//
//     example_word_count [TEXTS]
//
// The last line of the output is the rate, for those who measure policies (docs/tune.md: --metric).
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include <txsync/policy_mutex.hpp>
#include <txsync/site.hpp>

namespace {

constinit txsync::site texts_site{"words.texts"};
constinit txsync::site dictionary_site{"words.dictionary"};
constinit txsync::site totals_site{"words.totals"};

constexpr unsigned threads = 8;
constexpr unsigned words_a_text = 500;

/// Makes text number `number`. The shorter a word is, the more often it occurs.
std::string make_text(std::uint32_t number) {
  constexpr std::array<std::string_view, 8> syllables = {"ba", "co", "di", "fu", "ga", "lo", "mi", "ru"};
  std::string text;
  std::uint32_t random = number * 2654435761u + 1;
  const auto next = [&random] {
    random = random * 1664525 + 1013904223;  // linear congruential (Knuth, vol. 2, 3.3.4)
    return random >> 16;
  };
  for (unsigned word = 0; word < words_a_text; ++word) {
    do {
      text += syllables[next() % syllables.size()];
    } while (next() % 2 != 0);
    text += ' ';
  }
  return text;
}

/// Calls use(word) for each word of the text.
template <class Use>
void for_each_word(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    use(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

using dictionary = std::unordered_map<std::string, long>;

class counter {
 public:
  explicit counter(unsigned texts) : texts_(texts) {}

  /// The work of a thread: one text after the other, until none is left.
  void count_texts() {
    for (unsigned text = 0; take_text(text);) {
      const std::string words = make_text(text);
      for_each_word(words, [this](std::string_view word) { count(word); });
      add_totals(words.size());
    }
  }

  const dictionary& counts() const { return counts_; }
  std::size_t letters() const { return letters_; }

 private:
  bool take_text(unsigned& text) {
    const std::lock_guard guard(texts_lock_);
    if (next_text_ == texts_) return false;
    text = next_text_++;
    return true;
  }
  void count(std::string_view word) {
    std::string key(word);
    const std::lock_guard guard(dictionary_lock_);
    ++counts_[std::move(key)];
  }
  void add_totals(std::size_t letters) {
    const std::lock_guard guard(totals_lock_);
    letters_ += letters;
  }

  txsync::policy_mutex texts_lock_{texts_site};
  unsigned next_text_ = 0;  // guarded by texts_lock_
  const unsigned texts_;
  txsync::policy_mutex dictionary_lock_{dictionary_site};
  dictionary counts_;  // guarded by dictionary_lock_
  txsync::policy_mutex totals_lock_{totals_site};
  std::size_t letters_ = 0;  // guarded by totals_lock_
};

/// Whether one thread without locks counts the same.
bool is_right(const counter& counted, unsigned texts) {
  dictionary expected;
  std::size_t letters = 0;
  for (unsigned text = 0; text < texts; ++text) {
    const std::string words = make_text(text);
    for_each_word(words, [&](std::string_view word) { ++expected[std::string(word)]; });
    letters += words.size();
  }
  return counted.counts() == expected && counted.letters() == letters;
}

}  // namespace

int main(int count, char** words) {
  const long asked = count > 1 ? std::strtol(words[1], nullptr, 10) : 1'000;
  if (asked <= 0 || asked > 1'000'000) {
    std::fprintf(stderr, "word_count: the number of texts is 1 to 1000000, not '%s'\n", words[1]);
    return 2;
  }
  const auto texts = static_cast<unsigned>(asked);
  // Set before the first use of the lock. The other sites keep the default.
  dictionary_site.set_policy(txsync::lock_policy::ticket);

  counter all(texts);
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> team;
    team.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) team.emplace_back([&all] { all.count_texts(); });
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const bool right = is_right(all, texts);
  std::printf("%u words, %zu of them different: %s\n", texts * words_a_text, all.counts().size(),
              right ? "right" : "WRONG");
  std::printf("%.0f words a second\n", texts * words_a_text / took.count());
  return right ? 0 : 1;
}
