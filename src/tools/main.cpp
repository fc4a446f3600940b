#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/launch/plan.h"
#include "tools/suggestion.h"

namespace {

using namespace terrane;

int usage_error(const std::string& sentence, const std::string& command) {
  base::log("{}; see: {} --help", sentence, command);
  return tools::kExitUsage;
}

// The name that OpenSHMEM knows `terrane run` by: a link to this program.
bool is_oshrun(std::string_view path) { return path.substr(path.rfind('/') + 1) == "oshrun"; }

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names{"help"};
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

CLI::App* find_command(CLI::App& app, const std::string& name) {
  auto found =
      app.get_subcommands([&name](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

bool takes_program(const std::string& command) {
  constexpr const char* kCommands[] = {"run", "threads", "omp", "join", "hosts", "advise"};
  return std::find(std::begin(kCommands), std::end(kCommands), command) != std::end(kCommands);
}

// `terrane help` and `terrane help COMMAND` are other words for --help.
void replace_help(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help") return;
  words.erase(words.begin());
  words.insert(words.empty() ? words.begin() : words.begin() + 1, "--help");
}

void add_commands(CLI::App& app, tools::CommandContext& context) {
  tools::add_run_command(app, context);
  tools::add_threads_command(app, context);
  tools::add_omp_command(app, context);
  tools::add_hosts_command(app, context);
  tools::add_join_commands(app, context);
  tools::add_host_engine_command(app, context);
  tools::add_info_command(app, context);
  tools::add_check_binary_command(app, context);
  tools::add_doctor_command(app, context);
  tools::add_adopt_command(app, context);
  tools::add_sim_command(app, context);
  tools::add_top_command(app, context);
  tools::add_advise_command(app, context);
  tools::add_report_command(app, context);
  tools::add_gateway_command(app, context);
  tools::add_completion_command(app, context);
}

// What was wrong with words that no option takes, and the option that was probably meant.
std::string describe(const CLI::ParseError& error, const CLI::App* command,
                     const std::vector<std::string>& words, const std::string& name) {
  if (!command || !dynamic_cast<const CLI::ExtrasError*>(&error)) return error.what();
  for (const std::string& word : words) {
    std::string option = word.substr(0, word.find('='));
    if (!option.starts_with("--") || command->get_option_no_throw(option)) continue;
    return fmt::format("{} has no option {}{}", name, option,
                       tools::did_you_mean(option, tools::option_names(*command)));
  }
  return error.what();
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Software distributed shared memory: start jobs and look into them.", "terrane");
  app.set_version_flag("--version", fmt::format("terrane {}", TERRANE_VERSION));
  app.footer("Help for one command: terrane help COMMAND, or man terrane-COMMAND.");
  tools::CommandContext context;
  context.command_line = {argv, static_cast<std::size_t>(argc)};
  add_commands(app, context);

  std::vector<std::string> words(argv + 1, argv + argc);
  const bool oshrun = argc > 0 && is_oshrun(argv[0]);
  const bool asks_for_version = words.size() == 1 && words[0] == "--version";
  if (oshrun && !asks_for_version) words.insert(words.begin(), "run");
  if (words.empty()) return usage_error("no command given", "terrane");
  if (!oshrun) replace_help(words);
  CLI::App* command = find_command(app, words[0]);
  if (!command && words[0][0] != '-') {
    return usage_error(fmt::format("there is no command {}{}", words[0],
                                   tools::did_you_mean(words[0], command_names(app))),
                       "terrane");
  }
  std::string name = oshrun ? "oshrun" : command ? "terrane " + words[0] : "terrane";
  if (command && takes_program(words[0])) {
    context.run_name = name;
    auto program = tools::separate_program(*command, name, words, 1);
    if (!program) return usage_error(program.error().message, name);
    context.program = std::move(program).value();
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& asked_for_text) {  // --help, --version
    return app.exit(asked_for_text);
  } catch (const CLI::ParseError& error) {
    return usage_error(describe(error, command, words, name), name);
  }
  return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("terrane: not enough memory to read the command line\n", stderr);
    return tools::kExitFailure;
  } catch (const std::exception& error) {  // what the libraries throw
    std::fprintf(stderr, "terrane: a fault of its own: %s\n", error.what());
    return tools::kExitFailure;
  }
}
