#include "line_reader.h"

#include <cerrno>
#include <cstring>

namespace lu {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

void split(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && is_space(line[at])) ++at;
    if (at == line.size()) return;
    const std::size_t begin = at;
    while (at < line.size() && !is_space(line[at])) ++at;
    words.push_back(line.substr(begin, at - begin));
  }
}

}  // namespace

Failure LineReader::failure(const std::string& sentence) const {
  return Failure{name_ + ":" + std::to_string(line_) + ": " + sentence};
}

Outcome<bool> LineReader::read_line() {
  ++line_;
  length_ = 0;
  for (;;) {
    const int c = std::getc(file_);
    if (c == EOF && std::ferror(file_) != 0) {
      return failure(std::string("could not be read: ") + std::strerror(errno));
    }
    if (c == EOF) return length_ > 0;
    if (c == '\n') return true;
    if (c == '\0') return failure("a zero byte; this is no text");
    if (length_ == kMaxLine) return failure("the line has more than 1024 characters");
    buffer_[length_++] = static_cast<char>(c);
  }
}

Outcome<bool> LineReader::next(std::vector<std::string_view>& words) {
  for (;;) {
    const bool first = line_ == 0;
    Outcome<bool> read = read_line();
    if (!read.ok() || !read.value()) return read;
    const std::string_view line(buffer_, length_);
    if (!first && line.starts_with('%')) continue;
    split(line, words);
    if (first || !words.empty()) return true;
  }
}

}  // namespace lu
