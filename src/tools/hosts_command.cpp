// `terrane hosts`: makes hosts on this machine out of namespaces, and runs a command in the first.
// The work is that of the program test_hosts, which lies in the installation's library folder or
// beside this command, where it is built.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/log.h"
#include "tools/commands.h"
#include "tools/hosts/options.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/preload.h"

namespace terrane::tools {
namespace {

std::string program_of_hosts() {
  std::error_code unknown;
  std::filesystem::path built =
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() / "test_hosts";
  if (::access(built.c_str(), X_OK) == 0) return built.string();
  return installed_library("/terrane/test_hosts");
}

int run_hosts(const CommandContext& context) {
  std::string program = program_of_hosts();
  if (program.empty()) {
    base::log("lib/terrane/test_hosts is not there: install Terrane as a whole");
    return kExitFailure;
  }
  std::vector<char*> words{const_cast<char*>("terrane hosts")};
  for (std::size_t i = 2; i < context.command_line.size(); ++i)
    words.push_back(context.command_line[i]);
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  base::log("{}: {}", program, std::strerror(errno));
  return kExitFailure;
}

}  // namespace

void add_hosts_command(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand(
      "hosts", "Make hosts on this machine, out of namespaces, and run a command in the first");
  auto options = std::make_shared<test_hosts::HostOptions>();  // for the help and the completion
  test_hosts::add_options(*command, *options);
  command->callback([options, &context] { context.exit_code = run_hosts(context); });
}

}  // namespace terrane::tools
