#include "tools/launch/host/debugger.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace terrane::tools {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+=:,./@%").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (char c : word) {
    text += c;
    if (c == '\'') text += "\\''";
  }
  text += '\'';
  return text;
}

}  // namespace

std::vector<std::string> debugger_words(pid_t pid) {
  std::vector<std::string> words{kDebugger, "-q", "-p", std::to_string(pid)};
  std::error_code unknown;
  std::filesystem::path command = std::filesystem::read_symlink("/proc/self/exe", unknown);
  std::filesystem::path script = command.parent_path().parent_path() / "share/terrane/gdb.py";
  if (std::filesystem::exists(script, unknown)) words.insert(words.end(), {"-x", script.string()});
  words.insert(words.end(), {"-ex", "tcatch exec", "-ex", "continue"});
  return words;
}

std::string in_shell_words(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += quoted(word);
  }
  return line;
}

}  // namespace terrane::tools
