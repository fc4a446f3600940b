// Makes hosts on this machine, and runs a command in the first one: test_hosts -n 4 COMMAND...;
// `terrane hosts` calls it.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "tools/hosts/hosts.h"
#include "tools/hosts/options.h"
#include "tools/hosts/switch.h"

namespace {

using namespace terrane;
namespace fs = std::filesystem;

constexpr int kExitUsage = 2;
constexpr int kExitNoHosts = 77;  // hosts cannot be made here

// As what the program was called: test_hosts, or terrane hosts.
std::string name = "test_hosts";

void say(const std::string& sentence) {
  std::fprintf(stderr, "%s: %s\n", name.c_str(), sentence.c_str());
}

struct CommandLine {
  test_hosts::HostOptions options;
  int control = -1;
  std::vector<std::string> command;
};

void describe(CLI::App& app, CommandLine& line) {
  test_hosts::add_options(app, line.options);
  app.add_option("--control", line.control)->group("");
  app.add_option("command", line.command, "What to run in h0; without it, a shell");
  app.prefix_command(false);
  app.positionals_at_end();
}

// The folder that holds this program's installation, or its build.
fs::path home_of(const fs::path& program) {
  fs::path folder = program.parent_path();  // .../bin, or .../lib/terrane
  return folder.filename() == "bin" ? folder.parent_path() : folder.parent_path().parent_path();
}

// The installation and the current folder are seen even where they lie below /tmp.
void share_what_is_needed(test_hosts::HostOptions& options) {
  std::error_code unknown;
  fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  options.shared.push_back(home_of(program).string());
  options.shared.push_back(fs::current_path(unknown).string());
}

// enter_host and, in an installation, the commands of bin/ are in the path of the hosts.
std::vector<std::string> environment_inside(const fs::path& program) {
  std::string folder = program.parent_path().string();
  std::string path = folder + ":" + (home_of(program) / "bin").string();
  if (const char* now = std::getenv("PATH")) path += std::string(":") + now;
  ::setenv("PATH", path.c_str(), 1);
  ::setenv("TERRANE_RSH", (folder + "/enter_host").c_str(), 0);
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) all.emplace_back(*entry);
  return all;
}

int run_inside(const CommandLine& line) {
  std::error_code unknown;
  fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  auto hosts = test_hosts::Hosts::make(line.options, program.string());
  if (!hosts) {
    say(hosts.error().message);
    return kExitNoHosts;
  }
  const char* shell = std::getenv("SHELL");
  std::vector<std::string> command = line.command;
  if (command.empty()) command.emplace_back(shell ? shell : "/bin/sh");
  // A terminal sends these to the command as well, which decides what they mean.
  for (int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_IGN);
  auto code = hosts.value().run(0, command, environment_inside(program),
                                fs::current_path(unknown).string());
  if (!code) say(code.error().message);
  return code ? code.value() : kExitNoHosts;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Hosts on this machine, made of namespaces: a network of their own, nothing left over.",
      "test_hosts");
  if (argc > 0 && std::string_view(argv[0]) == "terrane hosts") name = argv[0];
  CommandLine line;
  describe(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kExitUsage;
  }
  if (auto read = test_hosts::parse_clusters(line.options); !read) {
    say(read.error().message);
    return kExitUsage;
  }
  if (line.control >= 0) {
    ::fcntl(line.control, F_SETFD, FD_CLOEXEC);
    return test_hosts::Switch::run_in_namespaces(line.options, test_hosts::UniqueFd(line.control));
  }
  share_what_is_needed(line.options);
  return run_inside(line);
}
