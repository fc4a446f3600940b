#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/log.h"
#include "tools/binary/check_binary.h"
#include "tools/commands.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/program.h"

namespace terrane::tools {
namespace {

int check(const std::string& name) {
  const char* search_path = std::getenv("PATH");
  ProgramLookup program = find_program(name, search_path ? search_path : "/usr/bin:/bin");
  if (program.exit_code != 0) {
    base::log("{}", program.error.message);
    return kExitUsage;
  }
  auto functions = locked_functions(program.path);
  if (!functions) {
    base::log("{}", functions.error().message);
    return kExitUsage;
  }
  for (const std::string& line : describe(program.path, functions.value())) std::puts(line.c_str());
  return functions.value().empty() ? 0 : kExitFailure;
}

}  // namespace

void add_check_binary_command(CLI::App& app, CommandContext& context) {
  auto program = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "check-binary", "Name the functions of a program whose atomics mean nothing between nodes");
  command->add_option("PROGRAM", *program, "The executable file")->required();
  command->footer(
      "Exit code: 0 none, 1 some, 2 the file cannot be checked.\nMore: man terrane-check-binary.");
  command->callback([program, &context] { context.exit_code = check(*program); });
}

}  // namespace terrane::tools
