// Makes hosts on this machine, and runs a command in the first one: test_hosts -n 4 COMMAND...
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "hosts.h"
#include "switch.h"

namespace {

using namespace terrane;
namespace fs = std::filesystem;

constexpr int kExitUsage = 2;
constexpr int kExitNoHosts = 77;  // hosts cannot be made here

void say(const std::string& sentence) {
  std::fprintf(stderr, "test_hosts: %s\n", sentence.c_str());
}

struct CommandLine {
  test_hosts::HostOptions options;
  int control = -1;
  std::vector<std::string> command;
};

void describe(CLI::App& app, CommandLine& line) {
  auto& options = line.options;
  app.add_option("-n,--hosts", options.hosts, "So many hosts: h0, h1, ...")
      ->check(CLI::Range(1u, test_hosts::kMaxHosts))
      ->capture_default_str();
  app.add_option("--links", options.links, "So many interfaces each: eth0, eth1, ...")
      ->check(CLI::Range(1u, test_hosts::kMaxLinks))
      ->capture_default_str();
  app.add_option("--rate", options.rate, "Bound of each interface, each way: 1gbit (tc-tbf)");
  app.add_option("--shm", options.shm_size, "Size of each host's /dev/shm")->capture_default_str();
  app.add_option("--tmp", options.tmp_size, "Size of each host's /tmp")->capture_default_str();
  app.add_option("--share", options.shared, "A folder below /tmp that the hosts are to see")
      ->allow_extra_args(false);
  app.add_option("--control", line.control)->group("");
  app.add_option("command", line.command, "What to run in h0; without it, a shell");
  app.prefix_command(false);
  app.positionals_at_end();
  app.footer(
      "In the hosts, `enter_host HOST COMMAND...` runs a command in another one as ssh would; it "
      "is\n"
      "what TERRANE_RSH says there. Exit code 77: hosts cannot be made here.");
}

// The project and the folder at hand are seen even where they lie below /tmp.
void share_what_is_needed(test_hosts::HostOptions& options) {
  std::error_code unknown;
  options.shared.push_back(TEST_HOSTS_SOURCES);
  options.shared.push_back(TEST_HOSTS_BUILD);
  options.shared.push_back(fs::current_path(unknown).string());
}

std::vector<std::string> environment_inside(const fs::path& program) {
  std::string folder = program.parent_path().string();
  const char* path = std::getenv("PATH");
  ::setenv("PATH", (folder + (path ? std::string(":") + path : "")).c_str(), 1);
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
  CommandLine line;
  describe(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kExitUsage;
  }
  if (line.control >= 0) {
    ::fcntl(line.control, F_SETFD, FD_CLOEXEC);
    return test_hosts::Switch::run_in_namespaces(line.options, test_hosts::UniqueFd(line.control));
  }
  share_what_is_needed(line.options);
  return run_inside(line);
}
