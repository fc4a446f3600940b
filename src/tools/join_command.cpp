#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>

#include "base/log.h"
#include "tools/commands.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/guests/invitation.h"
#include "tools/launch/host/host_engine.h"
#include "tools/launch/host/program.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kDialMs = 3000;

struct JoinOptions {
  std::string invitation;  // the name of a file, or "-"
};

// The rest of an empty answer is on the standard error.
std::optional<Invitation> read_invitation(const std::string& file) {
  std::string line;
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) {
      base::log("--invitation {}: cannot read it", file);
      return std::nullopt;
    }
  }
  std::getline(file == "-" ? std::cin : opened, line);
  auto invitation = Invitation::parse(line);
  if (!invitation) {
    base::log(
        "--invitation {}: it holds no invitation; make one on the job's host: terrane invite "
        "JOB",
        file);
  }
  return invitation;
}

int join(const JoinOptions& options, const CommandContext& context) {
  std::vector<std::string> words = context.program;
  std::optional<Invitation> invitation;
  std::string job;
  if (options.invitation.empty() && !words.empty()) {
    job = words.front();
    words.erase(words.begin());
  }
  if (words.empty()) {
    base::log(
        "give a job and a program: terrane join JOB PROGRAM [ARGUMENTS]; see: terrane join "
        "--help");
    return kExitUsage;
  }
  const char* search_path = std::getenv("PATH");
  ProgramLookup program = find_program(words[0], search_path ? search_path : "/usr/bin:/bin");
  if (program.exit_code != 0) {
    base::log("{}", program.error.message);
    return program.exit_code;
  }
  if (!options.invitation.empty()) {
    invitation = read_invitation(options.invitation);
  } else if (auto asked = ask_for_invitation(job); asked) {
    invitation = std::move(asked).value();
  } else {
    base::log("{}", asked.error().message);
  }
  if (!invitation) return kExitFailure;
  GuestProgram guest{program.path, std::move(words)};
  HostEngineOptions engine{.hub_addresses = invitation->hub.addresses,
                           .port = invitation->hub.port,
                           .heartbeat_ms = invitation->heartbeat_ms,
                           .dial_timeout_ms = kDialMs,
                           .command_line = context.command_line};
  return run_guest_engine(engine, invitation->secret, guest);
}

int invite(const std::string& job) {
  auto invitation = ask_for_invitation(job);
  if (!invitation) {
    base::log("{}", invitation.error().message);
    return kExitFailure;
  }
  std::puts(invitation.value().text().c_str());
  return 0;
}

}  // namespace

void add_join_commands(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<JoinOptions>();
  CLI::App* command = app.add_subcommand(
      "join", "Join a running job of chunks with one more node: terrane join JOB PROGRAM ...");
  command
      ->add_option("--invitation", options->invitation,
                   "File with the job's invitation (- for the standard input), in place of JOB")
      ->type_name("FILE");
  command->footer("The job was started with room: terrane run --guests N. More: man terrane-join.");
  command->callback([options, &context] { context.exit_code = join(*options, context); });
  auto job = std::make_shared<std::string>();
  CLI::App* invitation = app.add_subcommand(
      "invite", "Print a job's invitation, which lets another host join it; keep it secret");
  invitation->add_option("JOB", *job, "The job's name")->required();
  invitation->callback([job, &context] { context.exit_code = invite(*job); });
}

}  // namespace terrane::tools
