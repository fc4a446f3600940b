#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "outcome.h"

namespace lu {

// A file's lines as lists of words, one line at a time; remembers where it is for the sentences.
// Blank lines and, after the first line, those that begin with % are passed over.
class LineReader {
 public:
  // The format allows 1024 characters a line.
  static constexpr std::size_t kMaxLine = 1024;

  LineReader(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

  // False at the file's end; a Failure for a line that is too long, or for bytes that are no text.
  // The words are valid until the next call.
  Outcome<bool> next(std::vector<std::string_view>& words);
  // "NAME:LINE: sentence".
  Failure failure(const std::string& sentence) const;

 private:
  // Fills buffer_ and length_; false at the end.
  Outcome<bool> read_line();

  std::FILE* file_;
  std::string name_;
  std::uint64_t line_ = 0;
  char buffer_[kMaxLine];
  std::size_t length_ = 0;
};

}  // namespace lu
