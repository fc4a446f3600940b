#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/log.h"
#include "patch/plan.h"
#include "tools/binary/check_binary.h"
#include "tools/commands.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/program.h"

namespace terrane::tools {
namespace {

// What `terrane threads` does with the file's locked instructions, which are more than those above:
// all memory of its programs is shared.
void print_plan(const std::string& path) {
  auto file = patch::ElfCode::open(path);
  if (!patch::can_decode() || !file) return;
  patch::Plan plan = patch::make_plan(file.value(), false);
  for (std::uint64_t doubt : plan.doubts) {
    std::string function = file.value().function_at(doubt);
    fmt::print("{}: terrane threads refuses it: data among its code at {:#x}{}{}\n", path, doubt,
               function.empty() ? "" : " in ", function);
  }
  if (plan.sites.empty() || !plan.doubts.empty()) return;
  fmt::print(
      "{}: terrane threads serves {} locked instructions: {} by jumps, {} by short jumps, {} "
      "by traps\n",
      path, plan.sites.size(), plan.count(patch::Way::kJump), plan.count(patch::Way::kHop),
      plan.count(patch::Way::kTrap));
}

// A library need not be executable.
bool is_file(const std::string& name) {
  return name.find('/') != std::string::npos && ::access(name.c_str(), R_OK) == 0;
}

int check(const std::string& name) {
  const char* search_path = std::getenv("PATH");
  ProgramLookup program = find_program(name, search_path ? search_path : "/usr/bin:/bin");
  if (program.exit_code != 0 && is_file(name)) program = {.path = name};
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
  print_plan(program.path);
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
