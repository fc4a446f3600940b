#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/log.h"
#include "bootstrap/foreign_launcher.h"
#include "tools/binary/check_binary.h"
#include "tools/binary/program_libraries.h"
#include "tools/commands.h"
#include "tools/launch/host/program.h"
#include "tools/launch/host/wrapped_program.h"
#include "tools/launch/hub/job_engine.h"
#include "tools/run_options.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kNoticeFactor = 4;  // nodes per processor from which a notice is due unasked

// CLI11 knows nothing of the program, which never reaches it.
class RunHelp : public CLI::Formatter {
 public:
  explicit RunHelp(const CommandContext& context) : context_(context) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return fmt::format("Usage: {} [OPTIONS] PROGRAM [ARGUMENTS...]\n", context_.run_name);
  }

 private:
  const CommandContext& context_;
};

void notice_oversubscription(const JobPlan& plan) {
  std::size_t processors = std::thread::hardware_concurrency();
  std::size_t threshold = plan.verbose ? processors : kNoticeFactor * processors;
  std::uint32_t nodes =
      plan.own_host < 0 ? 0 : plan.program.map.nodes_on(static_cast<std::uint32_t>(plan.own_host));
  if (processors != 0 && nodes > threshold) {
    base::log("{} nodes share {} processors of this host: the job will run, slowly", nodes,
              processors);
  }
}

// Says which functions to look at; the job runs all the same. False: the program cannot be checked.
bool check_pages(const std::string& path) {
  auto functions = locked_functions(path);
  if (!functions) {
    base::log("--check=pages: {}", functions.error().message);
    return false;
  }
  for (const std::string& line : describe(path, functions.value())) base::log_line(line);
  return true;
}

// Whether the program's libraries have no atomics that mean nothing between nodes; false: the
// sentences are said.
bool check_libraries(const std::string& path) {
  bool good = true;
  for (const std::string& library : program_libraries(path)) {
    auto functions = locked_functions(library, SharedScope::kProgram);
    if (!functions) {
      base::log("{}; or give --allow-inline-atomics", functions.error().message);
      return false;
    }
    std::string sentence = describe_library(library, functions.value());
    if (!sentence.empty()) base::log("{}", sentence);
    good = good && sentence.empty();
  }
  return good;
}

// Whether the program can be one whose threads run on many nodes; false: the sentence is said.
bool check_threads(const std::string& path, const RunOptions& options) {
  const char* search_path = std::getenv("PATH");
  ProgramFile program = read_program(path, search_path ? search_path : "/usr/bin:/bin");
  std::error_code unknown;
  if (program.path != std::filesystem::canonical(path, unknown)) {
    base::log("{} is a script: give the program that it starts", path);
    return false;
  }
  if (!program.run_time.empty()) {
    base::log(
        "{} is a program of {}, whose run time makes threads and moves memory by itself, and knows "
        "one machine: its threads cannot run on several nodes",
        path, program.run_time);
    return false;
  }
  if (options.preload == Preload::kOmp && !program.own_openmp.empty()) {
    base::log(
        "{} holds {} OpenMP library itself, which knows one node: link it without that "
        "library's .a file",
        path, program.own_openmp);
    return false;
  }
  if (!program.is_dynamic) {
    base::log("{} is not linked dynamically: link it without -static", path);
    return false;
  }
  if (program.has_terrane) {
    base::log("{} uses Terrane by itself: start it by terrane run", path);
    return false;
  }
  if (program.has_first) {
    base::log("{} has a sanitizer, which brings its own malloc: link it without -fsanitize", path);
    return false;
  }
  if (options.allow_inline_atomics || serves_locked_code(options)) return true;
  auto functions = locked_functions(program.path, SharedScope::kProgram);
  if (!functions) {
    base::log("{}; or give --allow-inline-atomics", functions.error().message);
    return false;
  }
  for (const std::string& line : describe(program.path, functions.value(), SharedScope::kProgram))
    base::log_line(line);
  return functions.value().empty() && check_libraries(program.path);
}

int run(const RunOptions& options, const CommandContext& context) {
  auto planned = plan_run(options, context);
  if (!planned) {
    base::log("{}; see: {} --help", planned.error().message, context.run_name);
    return kExitUsage;
  }
  JobPlan& plan = planned.value().plan;
  const char* search_path = std::getenv("PATH");
  ProgramLookup program =
      find_program(plan.program.argv[0], search_path ? search_path : "/usr/bin:/bin");
  if (program.exit_code != 0) {
    base::log("{}", program.error.message);
    return program.exit_code;
  }
  plan.program.path = program.path;
  if (auto copies = bootstrap::copies_by_foreign_launcher()) base::log("{}", *copies);
  bool threads = shares_program(options.preload);
  if (threads) {
    auto behind = program_behind(plan.program.argv, search_path ? search_path : "/usr/bin:/bin");
    if (behind.exit_code != 0) {
      base::log("{}", behind.error.message);
      return behind.exit_code;
    }
    if (behind.path != program.path) plan.program.program = behind.path;
    program.path = behind.path;
  }
  if (options.check == "pages" && !check_pages(program.path)) return kExitUsage;
  if (threads && !check_threads(program.path, options)) return kExitUsage;
  if (threads || options.preload == Preload::kAlways) {
    std::string why = why_no_preload(options.preload);
    if (!why.empty()) {
      base::log("{}", why);
      return kExitUsage;
    }
  }
  for (const std::string& notice : planned.value().notices) base::log_line(notice);
  notice_oversubscription(plan);
  if (plan.verbose) {
    base::log("starting {} nodes of {}", plan.program.map.started(), program.path);
  }
  return run_job(plan);
}

void add_job_options(CLI::App& run_app, RunOptions& options) {
  run_app
      .add_option("-n,--np", options.nodes,
                  "Number of nodes (also -np); default 1, or all slots of the hosts")
      ->type_name("N");
  run_app.add_flag("--tag-output", options.tag_output, "Put \"[node] \" before each line");
  run_app.add_option("--timeout", options.timeout, "End the job after so long (exit code 124)")
      ->type_name("SECONDS");
  run_app
      .add_option(
          "--grace", options.grace,
          "From SIGTERM, SIGHUP or SIGQUIT to the end of what still runs; default 5 (run), none "
          "(threads, omp)")
      ->type_name("SECONDS");
  run_app
      .add_option("--heartbeat", options.heartbeat,
                  "Silence of a host or a stop of a node that ends the job; default 1, 0: none")
      ->type_name("SECONDS");
  run_app
      .add_option("--death-after", options.death_after,
                  "The same for a host whose kernel answers: it is late, not dead; default 10")
      ->type_name("SECONDS");
  run_app
      .add_option("--patience", options.patience,
                  "A wait that nodes report; default 30, 0: they report none")
      ->type_name("SECONDS");
  run_app
      .add_option("--predict", options.predict,
                  "Heuristics of the page protocol to switch off (-NAME,...), or another predictor")
      ->type_name("NAMES");
  run_app
      .add_option("--on-death", options.on_death,
                  "What a node's death means to the job: end (default), survive")
      ->check(CLI::IsMember({"end", "survive"}))
      ->type_name("WHAT");
  run_app
      .add_option("--guests", options.guests,
                  "Places for nodes that join the running job: terrane join (chunks); default 0")
      ->type_name("N");
  run_app.add_option("--name", options.name, "What the job is called by those who join it")
      ->type_name("NAME");
  run_app.add_flag("--stats", options.stats,
                   "Each node says at its end where its threads' time went, and which memory and "
                   "locks cost most");
  run_app
      .add_option("--metrics", options.metrics,
                  "Serve the counters of all nodes to Prometheus at this port of the loopback, or "
                  "of another address of this host; 0: any port")
      ->type_name("[ADDRESS:]PORT");
  run_app.add_flag("-v,--verbose", options.verbose, "Say what is being done");
}

void add_host_options(CLI::App& run_app, RunOptions& options) {
  run_app.add_option("-H,--host", options.hosts, "Hosts, with their slots")->type_name("a,b:2,...");
  run_app
      .add_option("--hostfile,--machinefile", options.host_file,
                  "File with a host a line: NAME slots=N")
      ->type_name("FILE");
  run_app
      .add_option("--clusters", options.clusters,
                  "Which hosts are near each other: NAME:HOST,.../NAME:HOST,...")
      ->type_name("CLUSTERS");
  run_app
      .add_option("--gateways", options.gateways,
                  "Hosts whose gateways join the clusters: NAME:HOST,.../NAME:HOST,...")
      ->type_name("GATEWAYS");
  run_app
      .add_option(
          "--key", options.key,
          "The file of the job's key, for gateways that are started by hand; made if missing")
      ->type_name("FILE");
  run_app.add_flag(
      "--encrypt", options.encrypt,
      "Encrypt all that passes between hosts; with gateways, also between nodes and gateways");
  run_app
      .add_option("--map-by", options.map_by,
                  "Fill a host's slots first (slot, default), or take the hosts in turn (node)")
      ->check(CLI::IsMember({"slot", "node"}))
      ->type_name("WHAT");
  run_app
      .add_option("--engine", options.engine,
                  "What starts other hosts: auto (default), local, ssh, mpirun, prterun, srun")
      ->check(CLI::IsMember({"auto", "local", "ssh", "mpirun", "prterun", "srun"}))
      ->type_name("NAME");
  run_app.add_option("--rsh", options.rsh, "Used like ssh; default $TERRANE_RSH, else ssh")
      ->type_name("COMMAND");
  run_app.add_option("--prefix", options.prefix, "Where Terrane is installed on the other hosts")
      ->type_name("FOLDER");
  run_app
      .add_option("--start-timeout", options.start_timeout,
                  "How long the other hosts may take to come up; default 30")
      ->type_name("SECONDS");
}

void add_node_options(CLI::App& run_app, RunOptions& options) {
  run_app.add_option("-x,--env", options.variables, "Set VAR for every node; may be repeated")
      ->type_name("VAR[=VALUE]")
      ->allow_extra_args(false);
  run_app.add_option("--wdir", options.folder, "Folder to run the nodes in")->type_name("FOLDER");
  run_app
      .add_option("--bind-to", options.bind_to,
                  "Tie each node to its share of the cores where they suffice (share: oshrun's "
                  "default), node i to core i (core), or to none (none: else)")
      ->check(CLI::IsMember({"none", "share", "core"}))
      ->type_name("WHAT");
  run_app
      .add_option("--fault-source", options.fault_source,
                  "auto, uffd-async, uffd-sync, uffd-late or sigsegv")
      ->check(CLI::IsMember({"auto", "uffd-async", "uffd-sync", "uffd-late", "sigsegv"}))
      ->type_name("KIND");
  run_app
      .add_option("--consistency", options.consistency,
                  "What threads see of each other: what was released (release, default), or all, "
                  "in one order, as on one machine (sequential): for programs with data races")
      ->check(CLI::IsMember({"release", "sequential"}))
      ->type_name("WHAT");
  run_app
      .add_option("--memory", options.memory,
                  "The most memory each node keeps of shared pages and copies, such as 4G")
      ->type_name("SIZE");
  run_app.add_option("--transport", options.transport, "How the nodes speak to each other")
      ->type_name("NAME");
  run_app.add_option("--net", options.net, "Network interfaces between hosts: eth0,... or auto")
      ->type_name("NAMES");
  run_app
      .add_option("--port", options.ports,
                  "Ports to listen on, on every host: 40000-40999; default: any that is free")
      ->type_name("LOW-HIGH");
  run_app
      .add_option("--topology", options.topology,
                  "The job's TOML file: nodes, hosts, servers, memory; options here go before it")
      ->type_name("FILE");
  run_app
      .add_option("--servers", options.servers,
                  "Homes of chunks: how many, or which nodes (0,4); default: one on each host")
      ->type_name("NODES");
  run_app
      .add_option("--report", options.report,
                  "Folder for the nodes' event logs, of which terrane report makes a page")
      ->type_name("FOLDER");
  run_app
      .add_option("--report-every", options.report_every,
                  "Scopes that waited for nobody: one of N is noted; default 32, 1: all")
      ->type_name("N");
  run_app
      .add_option(
          "--check", options.check,
          "Every call of OpenSHMEM programs, at some cost (shmem); the program's atomics, before "
          "it starts (pages); data races between nodes, of writes (races) or also of reads "
          "with writes (races=reads: threads and omp); false sharing of pages (sharing)")
      ->check(CLI::IsMember({"shmem", "pages", "races", "races=reads", "sharing"}))
      ->type_name("WHAT");
  run_app
      .add_option("--check-output", options.check_output,
                  "What --check=races or sharing has found, as JSON; written by node 0")
      ->type_name("FILE");
  run_app.add_flag("--check-fails", options.check_fails,
                   "Exit code 66 if there are data races (races), or false sharing (sharing)");
  run_app
      .add_option("--debug", options.debug,
                  "Nodes wait for a debugger (wait), or each has gdb in a terminal (gdb)")
      ->check(CLI::IsMember({"wait", "gdb"}))
      ->type_name("HOW");
}

void add_preload_options(CLI::App& run_app, RunOptions& options) {
  run_app.add_flag("--randomize", options.randomize,
                   "Leave the addresses of each node's private memory random");
  run_app.add_flag_callback(
      "--preload", [&options] { options.preload = Preload::kAlways; },
      "Put libterrane in front of the C library, for programs that load it themselves; "
      "without: where the program looks like one");
  run_app.add_flag_callback(
      "--program", [&options] { options.preload = Preload::kThreads; },
      "main() runs on node 0 and the threads that it makes on all nodes, as by terrane threads");
  run_app.add_flag_callback(
      "--no-preload", [&options] { options.preload = Preload::kNever; }, "Never do so");
}

void add_atomics_options(CLI::App& app, RunOptions& options) {
  app.add_option("--atomics", options.atomics,
                 "Serve locked instructions where they are, by jumps (patch, default) or by traps "
                 "(trap); by jumps, and in the home of their word, without order for other memory "
                 "(relaxed); or refuse a program that has some (refuse)")
      ->type_name("HOW");
  app.add_flag("--allow-inline-atomics", options.allow_inline_atomics,
               "Start a program that has some, and leave them as they are");
}

void add_lend_option(CLI::App& app, RunOptions& options) {
  app.add_option("--lend", options.lend, "Hosts that give memory, and run no thread of the program")
      ->type_name("a,b:2,...");
}

void add_threads_options(CLI::App& threads_app, RunOptions& options) {
  threads_app
      .add_option("--placement", options.placement,
                  "Which node a new thread starts on: as many in a row as a node has processors "
                  "(block, default), one after the other (cyclic), or N in a row")
      ->type_name("HOW");
  add_lend_option(threads_app, options);
  add_atomics_options(threads_app, options);
}

}  // namespace

void add_threads_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RunOptions>();
  options->preload = Preload::kThreads;
  CLI::App* threads_app = app.add_subcommand(
      "threads", "Run the threads of one program, as it is, on the nodes of a job");
  threads_app->formatter(std::make_shared<RunHelp>(context));
  threads_app->footer(
      "Everything from PROGRAM on belongs to the program. main() runs on node 0.\nMore: man "
      "terrane-threads.");
  add_threads_options(*threads_app, *options);
  add_job_options(*threads_app, *options);
  add_host_options(*threads_app, *options);
  add_node_options(*threads_app, *options);
  threads_app->callback([options, &context] { context.exit_code = run(*options, context); });
}

void add_omp_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RunOptions>();
  options->preload = Preload::kOmp;
  CLI::App* omp_app = app.add_subcommand(
      "omp", "Run an OpenMP program of gcc, gfortran or clang on the nodes of a job");
  omp_app->formatter(std::make_shared<RunHelp>(context));
  omp_app->footer(
      "Everything from PROGRAM on belongs to the program. OMP_NUM_THREADS is the whole "
      "team.\nMore: "
      "man terrane-omp.");
  omp_app
      ->add_option("--threads", options->threads,
                   "Threads of each node; default: OMP_NUM_THREADS of all nodes together")
      ->type_name("N");
  add_lend_option(*omp_app, *options);
  add_atomics_options(*omp_app, *options);
  add_job_options(*omp_app, *options);
  add_host_options(*omp_app, *options);
  add_node_options(*omp_app, *options);
  omp_app->callback([options, &context] { context.exit_code = run(*options, context); });
}

void add_run_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run_app = app.add_subcommand("run", "Start a program as the nodes of a job");
  run_app->formatter(std::make_shared<RunHelp>(context));
  run_app->footer(
      "Everything from PROGRAM on belongs to the program. Exit code: that of the first node to "
      "fail "
      "(128 + signal), else 0.\nMore: man terrane-run.");
  add_job_options(*run_app, *options);
  add_host_options(*run_app, *options);
  add_node_options(*run_app, *options);
  add_preload_options(*run_app, *options);
  add_threads_options(*run_app, *options);
  run_app->callback([options, &context] { context.exit_code = run(*options, context); });
}

}  // namespace terrane::tools
