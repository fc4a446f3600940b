#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace terrane::tools {

// What every subcommand gets: the words that belong to the program to be started (terrane run),
// main's own argv, and the place for its exit code.
struct CommandContext {
  std::vector<std::string> program;
  std::string run_name = "terrane run";  // what the user typed for it
  std::span<char*> command_line;
  int exit_code = 0;
};

// Each adds one subcommand to `app`, whose callback does the work and sets context.exit_code.
// `context` outlives `app`.
void add_run_command(CLI::App& app, CommandContext& context);
void add_threads_command(CLI::App& app, CommandContext& context);
void add_omp_command(CLI::App& app, CommandContext& context);
void add_host_engine_command(CLI::App& app, CommandContext& context);
void add_info_command(CLI::App& app, CommandContext& context);
void add_check_binary_command(CLI::App& app, CommandContext& context);
void add_doctor_command(CLI::App& app, CommandContext& context);
void add_adopt_command(CLI::App& app, CommandContext& context);
void add_sim_command(CLI::App& app, CommandContext& context);
void add_join_commands(CLI::App& app, CommandContext& context);
void add_report_command(CLI::App& app, CommandContext& context);
void add_top_command(CLI::App& app, CommandContext& context);
void add_advise_command(CLI::App& app, CommandContext& context);
void add_hosts_command(CLI::App& app, CommandContext& context);
void add_gateway_command(CLI::App& app, CommandContext& context);
void add_completion_command(CLI::App& app, CommandContext& context);

}  // namespace terrane::tools
