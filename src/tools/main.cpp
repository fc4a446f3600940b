#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/launch/plan.h"

namespace {

using namespace terrane;

int usage_error(const std::string& sentence, const std::string& command) {
  base::log("{}; see: {} --help", sentence, command);
  return tools::kExitUsage;
}

// The name that OpenSHMEM knows `terrane run` by: a link to this program.
bool is_oshrun(std::string_view path) { return path.substr(path.rfind('/') + 1) == "oshrun"; }

CLI::App* find_command(CLI::App& app, const std::string& name) {
  auto found =
      app.get_subcommands([&name](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Software distributed shared memory: start jobs and look into them.", "terrane");
  app.set_version_flag("--version", fmt::format("terrane {}", TERRANE_VERSION));
  app.footer("Help for one command: terrane COMMAND --help, or man terrane-run.");
  tools::CommandContext context;
  context.command_line = {argv, static_cast<std::size_t>(argc)};
  tools::add_run_command(app, context);
  tools::add_threads_command(app, context);
  tools::add_omp_command(app, context);
  tools::add_join_commands(app, context);
  tools::add_host_engine_command(app, context);
  tools::add_info_command(app, context);
  tools::add_check_binary_command(app, context);
  tools::add_doctor_command(app, context);
  tools::add_adopt_command(app, context);
  tools::add_sim_command(app, context);
  tools::add_report_command(app, context);

  std::vector<std::string> words(argv + 1, argv + argc);
  const bool oshrun = argc > 0 && is_oshrun(argv[0]);
  const bool asks_for_version = words.size() == 1 && words[0] == "--version";
  if (oshrun && !asks_for_version) words.insert(words.begin(), "run");
  if (words.empty()) return usage_error("no command given", "terrane");
  CLI::App* command = find_command(app, words[0]);
  if (!command && words[0][0] != '-') {
    return usage_error(fmt::format("there is no command {}", words[0]), "terrane");
  }
  std::string name = oshrun ? "oshrun" : command ? "terrane " + words[0] : "terrane";
  if (command &&
      (words[0] == "run" || words[0] == "join" || words[0] == "threads" || words[0] == "omp")) {
    context.run_name = name;
    auto program = tools::separate_program(*command, name, words, 1);
    if (!program) return usage_error(program.error().message, name);
    context.program = std::move(program).value();
  }
  try {
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
  } catch (const CLI::Success& asked_for_text) {  // --help, --version
    return app.exit(asked_for_text);
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what(), name);
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
