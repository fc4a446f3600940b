#include "tools/command_line.h"

#include <CLI/CLI.hpp>

#include "tools/suggestion.h"

namespace terrane::tools {
namespace {

// One option as it is on the command line: its name, and its value where it is in the same
// word.
struct Word {
  std::string name;
  bool has_value = false;
  std::string value;
};

Word take_apart(const std::string& text) {
  if (text == "-np") return {"--np"};
  std::size_t equals = text.find('=');
  bool is_long = text.starts_with("--");
  if (is_long && equals != std::string::npos) {
    return {text.substr(0, equals), true, text.substr(equals + 1)};
  }
  if (!is_long && text.size() > 2) return {text.substr(0, 2), true, text.substr(2)};  // -n4
  return {text};
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

base::Result<std::vector<std::string>> separate_program(const CLI::App& command,
                                                        const std::string& name,
                                                        std::vector<std::string>& words,
                                                        std::size_t first) {
  std::vector<std::string> options(words.begin(), words.begin() + static_cast<long>(first));
  std::size_t at = first;
  for (; at < words.size() && words[at].starts_with('-') && words[at] != "-"; ++at) {
    if (words[at] == "--") {
      ++at;
      break;
    }
    Word word = take_apart(words[at]);
    const CLI::Option* option = command.get_option_no_throw(word.name);
    if (!option) {
      return base::error("{} has no option {}{}", name, words[at],
                         did_you_mean(word.name, option_names(command)));
    }
    bool takes_value = option->get_items_expected_max() > 0;
    if (!takes_value) {
      if (word.has_value) return base::error("{}: the option takes no value", words[at]);
      options.push_back(word.name);
      continue;
    }
    if (!word.has_value) {
      if (at + 1 == words.size()) return base::error("{} needs a value", words[at]);
      word.value = words[++at];
    }
    options.push_back(fmt::format("--{}={}", option->get_lnames().front(), word.value));
  }
  std::vector<std::string> program(words.begin() + static_cast<long>(at), words.end());
  words = std::move(options);
  return program;
}

}  // namespace terrane::tools
