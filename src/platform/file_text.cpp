#include "platform/file_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/unique_fd.h"

namespace terrane::platform {
namespace {

std::vector<std::string_view> parts_of(std::string_view text, std::string_view between) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find_first_of(between, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::string file_text(const std::string& path) {
  base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (file.get() < 0) return text;
  char some[4096];
  for (ssize_t got; (got = ::read(file.get(), some, sizeof some)) > 0;)
    text.append(some, static_cast<std::size_t>(got));
  return text;
}

std::optional<std::uint64_t> number_of(std::string_view word) {
  std::uint64_t number = 0;
  auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  bool is_one = failure == std::errc() && end == word.data() + word.size();
  return is_one ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> number_in_file(const std::string& path) {
  std::string text = file_text(path);
  std::vector<std::string_view> words = words_of(text);
  return words.empty() ? std::nullopt : number_of(words[0]);
}

std::vector<std::string_view> words_of(std::string_view text) { return parts_of(text, " \t\n"); }
std::vector<std::string_view> lines_of(std::string_view text) { return parts_of(text, "\n"); }

}  // namespace terrane::platform
