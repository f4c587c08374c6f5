// SPDX-License-Identifier: Apache-2.0
// Readable names of functions, made from the demangler's output.
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "symbols/symbols.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::symbols {
namespace {

/// Longer names lose their template arguments.
constexpr std::size_t max_letters_with_templates = 100;

bool starts(std::string_view text, std::size_t at, std::string_view with) {
  return text.substr(at, with.size()) == with;
}

/// The position after the bracket that closes the one at `begin`. Only brackets of one kind count, so that "operator->"
/// inside does no harm.
std::size_t behind_group(std::string_view text, std::size_t begin, char open, char close) {
  unsigned depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && (i == 0 || text[i - 1] != '-') && --depth == 0) return i + 1;
  }
  return text.size();
}

/// The position after "operator" with its sign: "operator()", "operator<<", "operator->", "operator bool".
std::size_t behind_operator(std::string_view text, std::size_t begin) {
  std::size_t at = begin + std::string_view("operator").size();
  if (starts(text, at, "()")) return at + 2;
  while (at < text.size() && text[at] != '(') {
    // A template's arguments, unless it is the operator's sign.
    const bool sign = text[at] == '<' && (at == begin + 8 || text[at - 1] == '<');
    if (text[at] == '<' && !sign) return at;
    ++at;
  }
  return at;
}

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

/// Reads a demangled name from the left and keeps what names the function.
class shortener {
 public:
  shortener(std::string_view text, bool templates) : text_(text), templates_(templates) {}

  std::string make() {
    while (at_ < text_.size() && step()) {
    }
    return made_;
  }

 private:
  void keep(std::size_t until) {
    made_ += text_.substr(at_, until - at_);
    at_ = until;
  }

  bool step() {
    const bool word_begins = at_ == 0 || !is_word(text_[at_ - 1]);
    if (word_begins && starts(text_, at_, "operator") && !(at_ + 8 < text_.size() && is_word(text_[at_ + 8]))) {
      keep(behind_operator(text_, at_));
    } else if (starts(text_, at_, "(anonymous namespace)")) {
      keep(at_ + std::string_view("(anonymous namespace)").size());
    } else if (text_[at_] == '(') {
      return skip_arguments();
    } else if (text_[at_] == '{') {
      keep_local();
    } else if (text_[at_] == '<') {
      const std::size_t end = behind_group(text_, at_, '<', '>');
      made_ += templates_ ? text_.substr(at_, end - at_) : "<>";
      at_ = end;
    } else if (text_[at_] == ' ') {
      made_.clear();  // it was the return type
      ++at_;
    } else {
      keep(at_ + 1);
    }
    return true;
  }

  /// Arguments end the name, unless they belong to a function around a local one.
  bool skip_arguments() {
    at_ = behind_group(text_, at_, '(', ')');
    for (const std::string_view qualifier : {" const", " volatile", " &&", " &"}) {
      if (starts(text_, at_, qualifier)) at_ += qualifier.size();
    }
    return starts(text_, at_, "::");
  }

  /// "{lambda(int)#1}" as "{lambda#1}".
  void keep_local() {
    const std::size_t end = behind_group(text_, at_, '{', '}');
    const std::string_view local = text_.substr(at_, end - at_);
    const std::size_t open = local.find('(');
    const std::size_t number = local.rfind('#');
    if (open != std::string_view::npos && number != std::string_view::npos) {
      made_ += std::string(local.substr(0, open)) + std::string(local.substr(number));
    } else {
      made_ += local;
    }
    at_ = end;
  }

  std::string_view text_;
  bool templates_;
  std::size_t at_ = 0;
  std::string made_;
};

/// Without " [clone .part.0]" and "[abi:cxx11]".
std::string without_marks(std::string text) {
  if (const std::size_t clone = text.find(" [clone"); clone != std::string::npos) text.resize(clone);
  for (std::size_t at = text.find("[abi:"); at != std::string::npos; at = text.find("[abi:")) {
    const std::size_t end = text.find(']', at);
    text.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
  return text;
}

struct freer {
  void operator()(char* text) const noexcept { std::free(text); }
};

}  // namespace

std::string readable_name(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, freer> demangled(abi::__cxa_demangle(symbol, nullptr, nullptr, &status));
  const bool mangled = std::string_view(symbol).substr(0, 2) == "_Z";
  if (!mangled || demangled == nullptr || status != 0) {
    const std::string_view plain(symbol);
    return std::string(plain.substr(0, plain.find('.', 1)));
  }
  const std::string text = without_marks(demangled.get());
  std::string name = shortener(text, true).make();
  if (name.size() > max_letters_with_templates) name = shortener(text, false).make();
  return name.empty() ? text : name;
}

bool is_library_code(std::string_view function) { return function.starts_with("std::") || function.starts_with("__"); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::symbols
