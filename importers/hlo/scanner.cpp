#include "importers/hlo/scanner.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace equarx::hlo {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

}  // namespace

void Scanner::skip_space(bool over_lines) {
  while (at_ < text_.size()) {
    const std::string_view rest = text_.substr(at_);
    if (is_space(rest.front()) || (over_lines && rest.front() == '\n')) {
      ++at_;
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      at_ = end == std::string_view::npos ? text_.size() : at_ + end + 2;
    } else if (rest.starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool Scanner::at_end() {
  skip_space(true);
  return at_ >= text_.size();
}

char Scanner::peek() { return at_end() ? '\0' : text_[at_]; }

bool Scanner::take(std::string_view expected) {
  skip_space(true);
  if (!text_.substr(at_).starts_with(expected)) return false;
  at_ += expected.size();
  return true;
}

bool Scanner::at_line_end() {
  skip_space(false);
  return at_ >= text_.size() || text_[at_] == '\n';
}

void Scanner::skip_line() {
  const std::size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
}

std::string_view Scanner::word() {
  skip_space(true);
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view Scanner::name() {
  take("%");
  return word();
}

void Scanner::skip_quoted() {
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
  at_ = std::min(at_ + 1, text_.size());
}

std::string_view Scanner::value(std::string_view ends) {
  skip_space(false);
  const std::size_t begin = at_;
  int depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (depth == 0 && (c == '\n' || ends.find(c) != std::string_view::npos)) break;
    if (c == '"') {
      skip_quoted();
      continue;
    }
    if (closes(c) && depth-- == 0) break;
    if (opens(c)) ++depth;
    ++at_;
  }
  std::string_view found = text_.substr(begin, at_ - begin);
  while (!found.empty() && is_space(found.back())) found.remove_suffix(1);
  return found;
}

std::string_view Scanner::bracketed() {
  if (!opens(peek())) throw error("expected a bracket");
  const std::size_t begin = at_;
  int depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      skip_quoted();
      continue;
    }
    if (opens(c)) ++depth;
    ++at_;
    if (closes(c) && --depth == 0) return text_.substr(begin + 1, at_ - begin - 2);
  }
  at_ = begin;
  throw error("unclosed bracket; is the file truncated?");
}

std::uint32_t Scanner::line() {
  if (at_ < counted_) counted_ = lines_ = 0;
  lines_ += static_cast<std::uint32_t>(
      std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                 text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  counted_ = at_;
  return lines_ + 1;
}

exceptions::UserError Scanner::error(const std::string& message) {
  return {fmt::format("line {}", line()), message};
}

}  // namespace equarx::hlo
