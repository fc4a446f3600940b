// `terrane completion SHELL`: a script that completes the commands and their options. It is made of
// the descriptions of the command line itself, so that it holds every option.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/commands.h"

namespace terrane::tools {
namespace {

struct OptionWords {
  std::vector<std::string> names;  // with their hyphens
  std::string description;
  std::string type;                 // FILE, FOLDER, SECONDS, ...; empty: it takes no value
  std::vector<std::string> values;  // the only ones that it takes; empty: any
};

struct CommandWords {
  std::string name, description;
  std::vector<OptionWords> options;
  bool has_program = false;  // the words after the options are a program with its own
};

// "WHAT:{end,survive}": the values between the braces.
std::vector<std::string> values_of(const std::string& type) {
  std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

OptionWords describe(const CLI::Option& option) {
  OptionWords words{.description = option.get_description()};
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  if (option.get_items_expected_max() == 0) return words;
  std::string type = option.get_type_name();
  words.values = values_of(type);
  words.type = type.substr(0, type.find(':'));
  if (words.type.empty()) words.type = "VALUE";
  return words;
}

std::vector<CommandWords> describe(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    CommandWords words{.name = command->get_name(), .description = command->get_description()};
    for (const CLI::Option* option : command->get_options())
      if (!option->get_lnames().empty() || !option->get_snames().empty())
        words.options.push_back(describe(*option));
    words.has_program = command->get_option_no_throw("--timeout") != nullptr ||
                        words.name == "join" || words.name == "hosts";
    commands.push_back(std::move(words));
  }
  return commands;
}

std::string names_of(const std::vector<CommandWords>& commands) {
  std::string names;
  for (const CommandWords& command : commands) names += (names.empty() ? "" : " ") + command.name;
  return names;
}

// ---- bash

std::string bash_values(const OptionWords& option) {
  if (!option.values.empty())
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))",
                       fmt::join(option.values, " "));
  if (option.type == "FILE") return "compopt -o default";
  if (option.type == "FOLDER") return "compopt -o dirnames";
  return ":";
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::string text =
      R"(# Completion of terrane and oshrun for bash; made by: terrane completion bash
_terrane() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} first=1 command
  command=${COMP_WORDS[1]}
  if [ "${COMP_WORDS[0]##*/}" = oshrun ]; then command=run first=0; fi
  COMPREPLY=()
)";
  text += fmt::format(
      "  if [ \"$COMP_CWORD\" -le $first ]; then\n"
      "    COMPREPLY=($(compgen -W '{} help --help --version' -- \"$current\"))\n    return\n  "
      "fi\n",
      names_of(commands));
  text += "  case \"$command $previous\" in\n";
  for (const CommandWords& command : commands) {
    for (const OptionWords& option : command.options) {
      if (option.type.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(fmt::format("'{} {}'", command.name, name));
      text +=
          fmt::format("    {}) {} && return ;;\n", fmt::join(patterns, " | "), bash_values(option));
    }
  }
  text += fmt::format(
      "    'help '*) COMPREPLY=($(compgen -W '{}' -- \"$current\")) && return ;;\n"
      "    'completion '*) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$current\")) && return ;;\n"
      "  esac\n  local options=\n  case $command in\n",
      names_of(commands));
  for (const CommandWords& command : commands) {
    text += fmt::format("    {}) options='", command.name);
    for (const OptionWords& option : command.options)
      text += fmt::format("{} ", fmt::join(option.names, " "));
    text += "' ;;\n";
  }
  text += R"(  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) compopt -o default ;;
  esac
}
complete -F _terrane terrane oshrun
)";
  return text;
}

// ---- zsh

// In single quotes, and without what _arguments reads: brackets and colons.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text)
    out += c == '\'' ? "'\\''" : c == '[' ? "(" : c == ']' ? ")" : c == ':' ? " -" : std::string{c};
  return out;
}

std::string zsh_action(const OptionWords& option) {
  if (option.type.empty()) return {};
  if (!option.values.empty())
    return fmt::format(":{}:({})", option.type, fmt::join(option.values, " "));
  if (option.type == "FILE") return ":FILE:_files";
  if (option.type == "FOLDER") return ":FOLDER:_files -/";
  return fmt::format(":{}: ", zsh_text(option.type));
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string text =
      "#compdef terrane oshrun\n# Made by: terrane completion zsh\n_terrane() {\n"
      "  local command\n  if [[ $service == oshrun ]]; then\n    command=run\n"
      "  elif (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const CommandWords& command : commands)
    text += fmt::format("      '{}:{}'\n", command.name, zsh_text(command.description));
  text +=
      "      'help:Show the help of a command'\n    )\n    _describe command commands\n    return\n"
      "  else\n    command=$words[2]\n    shift words\n    (( CURRENT-- ))\n  fi\n"
      "  case $command in\n";
  for (const CommandWords& command : commands) {
    text += fmt::format("    {})\n      _arguments -s \\\n", command.name);
    for (const OptionWords& option : command.options)
      for (const std::string& name : option.names)
        text += fmt::format("        '{}[{}]{}' \\\n", name, zsh_text(option.description),
                            zsh_action(option));
    text += command.has_program ? "        '*::program:_normal'\n" : "        '*:file:_files'\n";
    text += "      ;;\n";
  }
  text += fmt::format("    help) _values command {} ;;\n  esac\n}}\n_terrane \"$@\"\n",
                      names_of(commands));
  return text;
}

// ---- fish

std::string fish_text(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return out;
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# Completion of terrane for fish; made by: terrane completion fish\n";
  for (const CommandWords& command : commands)
    text += fmt::format("complete -c terrane -n __fish_use_subcommand -f -a {} -d '{}'\n",
                        command.name, fish_text(command.description));
  text += fmt::format(
      "complete -c terrane -n __fish_use_subcommand -f -a help -d 'Show the help of a command'\n"
      "complete -c terrane -n '__fish_seen_subcommand_from help' -f -a '{}'\n"
      "complete -c terrane -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n",
      names_of(commands));
  for (const CommandWords& command : commands) {
    for (const OptionWords& option : command.options) {
      text += fmt::format("complete -c terrane -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.values.empty())
        text += fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
      else if (option.type == "FILE" || option.type == "FOLDER")
        text += " -r -F";
      else if (!option.type.empty())
        text += " -x";
      text += fmt::format(" -d '{}'\n", fish_text(option.description));
    }
  }
  return text;
}

}  // namespace

void add_completion_command(CLI::App& app, CommandContext&) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print what makes a shell complete this command line");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  command->footer("For this session: source <(terrane completion bash)");
  command->callback([shell, &app] {
    std::vector<CommandWords> commands = describe(app);
    std::string text = *shell == "bash"  ? bash_script(commands)
                       : *shell == "zsh" ? zsh_script(commands)
                                         : fish_script(commands);
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace terrane::tools
