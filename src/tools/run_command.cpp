#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "base/log.h"
#include "base/result.h"
#include "bootstrap/message.h"
#include "bootstrap/this_host.h"
#include "tools/commands.h"
#include "tools/launch/cpu_binding.h"
#include "tools/launch/job_engine.h"
#include "tools/launch/limits.h"
#include "tools/launch/program.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kNoticeFactor = 4;  // nodes per processor from which a notice is due unasked

// The command line as it was written.
struct RunOptions {
  std::string nodes = "1";
  std::vector<std::string> variables;
  std::string folder, timeout, bind_to = "none", heartbeat = "1", on_death = "end";
  std::string fault_source, memory, transport;
  bool tag_output = false;
  bool verbose = false;
};

// CLI11 knows nothing of the program, which never reaches it.
class RunHelp : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: terrane run [OPTIONS] PROGRAM [ARGUMENTS...]\n";
  }
};

base::Result<> add_variable(const std::string& text, JobPlan& plan) {
  std::size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (name.empty()) return base::error("-x {}: give it as NAME or NAME=VALUE", text);
  for (const char* own : {bootstrap::kSocketVariable, bootstrap::kNodeVariable,
                          bootstrap::kNodesVariable, bootstrap::kJobVariable}) {
    if (name == own) return base::error("-x {}: terrane run itself sets {}", text, name);
  }
  if (equals != std::string::npos) {
    plan.program.environment.emplace_back(name, text.substr(equals + 1));
  } else if (!std::getenv(name.c_str())) {
    return base::error("-x {}: {} is not set here; give it a value: -x {}=VALUE", text, name, name);
  }
  return {};  // what is set here reaches every node of this host anyway
}

base::Result<> add_settings(const RunOptions& options, JobPlan& plan) {
  if (!options.fault_source.empty()) {
    plan.program.environment.emplace_back("TERRANE_FAULT_SOURCE", options.fault_source);
  }
  if (!options.memory.empty()) {
    if (!is_size(options.memory)) {
      return base::error("--memory {}: must be a size such as 512M or 4G", options.memory);
    }
    plan.program.environment.emplace_back("TERRANE_MEMORY", options.memory);
  }
  if (!options.transport.empty()) {
    plan.program.environment.emplace_back("TERRANE_TRANSPORT", options.transport);
  }
  for (const std::string& variable : options.variables) {
    if (auto added = add_variable(variable, plan); !added) return added;
  }
  return {};
}

base::Result<JobPlan> make_plan(const RunOptions& options, const CommandContext& context) {
  JobPlan plan;
  auto nodes = parse_nodes(options.nodes, node_limit());
  if (!nodes) return nodes.error();
  plan.program.map = bootstrap::map_of_one_host(nodes.value(), bootstrap::this_hosts_name());
  if (!options.timeout.empty()) {
    auto timeout = parse_seconds("--timeout", options.timeout);
    if (!timeout) return timeout.error();
    plan.timeout_ms = timeout.value();
  }
  auto heartbeat = parse_heartbeat(options.heartbeat);
  if (!heartbeat) return heartbeat.error();
  plan.program.heartbeat_ms = heartbeat.value();
  if (auto added = add_settings(options, plan); !added) return added.error();
  if (context.program.empty()) {
    return base::error("no program given: terrane run -n {} PROGRAM [ARGUMENTS]", nodes.value());
  }
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) {
    return base::error("--wdir {}: {}", options.folder, std::strerror(errno));
  }
  plan.program.argv = context.program;
  plan.program.tag_output = options.tag_output;
  plan.program.bind_to_core = options.bind_to == "core";
  plan.verbose = options.verbose;
  plan.survive = options.on_death == "survive";
  plan.command_line = context.command_line;
  return plan;
}

void notice_oversubscription(const JobPlan& plan) {
  std::size_t processors = std::thread::hardware_concurrency();
  std::size_t threshold = plan.verbose ? processors : kNoticeFactor * processors;
  std::uint32_t nodes = plan.program.map.nodes();
  if (processors != 0 && nodes > threshold) {
    base::log("{} nodes share {} processors of this host: the job will run, slowly", nodes,
              processors);
  }
}

int run(const RunOptions& options, const CommandContext& context) {
  auto plan = make_plan(options, context);
  if (!plan) {
    base::log("{}; see: terrane run --help", plan.error().message);
    return kExitUsage;
  }
  const char* search_path = std::getenv("PATH");
  ProgramLookup program =
      find_program(plan.value().program.argv[0], search_path ? search_path : "/usr/bin:/bin");
  if (program.exit_code != 0) {
    base::log("{}", program.error.message);
    return program.exit_code;
  }
  plan.value().program.path = program.path;
  notice_oversubscription(plan.value());
  if (plan.value().verbose) {
    base::log("starting {} nodes of {}", plan.value().program.map.nodes(), program.path);
  }
  return run_job(plan.value());
}

}  // namespace

void add_run_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run_app = app.add_subcommand("run", "Start a program as the nodes of a job");
  run_app->formatter(std::make_shared<RunHelp>());
  run_app->footer(
      "Everything from PROGRAM on belongs to the program. Exit code: that of the first node to "
      "fail "
      "(128 + signal), else 0.\nMore: man terrane-run.");
  run_app->add_option("-n,--np", options->nodes, "Number of nodes (also -np); default 1")
      ->type_name("N");
  run_app->add_option("-x,--env", options->variables, "Set VAR for every node; may be repeated")
      ->type_name("VAR[=VALUE]")
      ->allow_extra_args(false);
  run_app->add_flag("--tag-output", options->tag_output, "Put \"[node] \" before each line");
  run_app->add_option("--wdir", options->folder, "Folder to run the nodes in")->type_name("FOLDER");
  run_app->add_option("--timeout", options->timeout, "End the job after so long (exit code 124)")
      ->type_name("SECONDS");
  run_app->add_option("--bind-to", options->bind_to, "Tie node i to core i: none (default), core")
      ->check(CLI::IsMember({"none", "core"}))
      ->type_name("WHAT");
  run_app
      ->add_option("--heartbeat", options->heartbeat,
                   "Silence of a host or a stop of a node that ends the job; default 1, 0: none")
      ->type_name("SECONDS");
  run_app
      ->add_option("--on-death", options->on_death,
                   "What a node's death means to the job: end (default), survive")
      ->check(CLI::IsMember({"end", "survive"}))
      ->type_name("WHAT");
  run_app
      ->add_option("--fault-source", options->fault_source,
                   "auto, uffd-async, uffd-sync, uffd-late or sigsegv")
      ->check(CLI::IsMember({"auto", "uffd-async", "uffd-sync", "uffd-late", "sigsegv"}))
      ->type_name("KIND");
  run_app
      ->add_option("--memory", options->memory,
                   "The most memory each node keeps of shared pages and copies, such as 4G")
      ->type_name("SIZE");
  run_app->add_option("--transport", options->transport, "How the nodes speak to each other")
      ->type_name("NAME");
  run_app->add_flag("-v,--verbose", options->verbose, "Say what is being done");
  run_app->callback([options, &context] { context.exit_code = run(*options, context); });
}

}  // namespace terrane::tools
