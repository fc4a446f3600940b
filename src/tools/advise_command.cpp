#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/log.h"
#include "runtime/options.h"
#include "tools/advise/advice.h"
#include "tools/advise/kept_input.h"
#include "tools/commands.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/preload.h"
#include "tools/launch/host/program.h"

extern char** environ;

namespace terrane::tools {
namespace {

namespace fs = std::filesystem;

struct AdviseOptions {
  std::uint32_t nodes = 8;
  std::string front_end = "auto", keep, recorded, memory;
  double round_trip_us = 60, megabytes_per_second = 1170;
  std::uint32_t processors = 1;
  bool json = false;
};

class AdviseHelp : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: terrane advise [OPTIONS] PROGRAM [ARGUMENTS...]\n";
  }
};

// The folder of a recording: of the run with pages, and of the one for times.
class Folder {
 public:
  // One that is there already.
  explicit Folder(std::string path) : path_(std::move(path)) {}
  // keep: the folder, which stays; empty: a new one, which goes with this.
  static Folder make(const std::string& keep) {
    Folder folder(keep);
    folder.goes_ = keep.empty();
    std::error_code why;
    if (folder.goes_) {
      folder.path_ = (fs::temp_directory_path() / "terrane-advise-XXXXXX").string();
      if (::mkdtemp(folder.path_.data()) == nullptr) return folder;
    }
    fs::create_directories(folder.recorded(), why);
    fs::create_directories(folder.times(), why);
    return folder;
  }
  ~Folder() {
    std::error_code ignored;
    if (goes_) fs::remove_all(path_, ignored);
  }
  Folder(Folder&& other) noexcept
      : path_(std::move(other.path_)), goes_(std::exchange(other.goes_, false)) {}

  bool has_recording() const { return ::access((times() + "/0.record").c_str(), F_OK) == 0; }
  bool is_there() const { return ::access(times().c_str(), W_OK) == 0; }
  const std::string& path() const { return path_; }
  std::string recorded() const { return path_ + "/recorded"; }
  std::string times() const { return path_ + "/times"; }

 private:
  std::string path_;
  bool goes_ = false;
};

// The command whose option the program needs: "omp", "threads" or "run".
std::string front_end_of(const std::string& path) {
  const char* search_path = std::getenv("PATH");
  ProgramFile program = read_program(path, search_path ? search_path : "/usr/bin:/bin");
  if (program.has_terrane) return "run";
  return program.needs_openmp ? "omp" : "threads";
}

std::vector<std::string> command_of(const AdviseOptions& options, const std::string& front_end,
                                    const CommandContext& context) {
  std::error_code unknown;
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe", unknown).string(), front_end,
                                    "-n", std::to_string(options.nodes)};
  if (front_end == "omp") words.insert(words.end(), {"--threads", "1"});
  if (front_end == "threads") words.insert(words.end(), {"--placement", "1"});
  words.insert(words.end(), context.program.begin(), context.program.end());
  return words;
}

int failed(const base::Error& error) {
  base::log("{}", error.message);
  return kExitFailure;
}

struct Run {
  std::vector<std::string> words, variables;
  int input = STDIN_FILENO;
  bool is_shown = false;  // what it prints
};

// Runs the job; result: its exit code. What it prints goes to standard error with --json.
int run_job(const Run& run, bool json) {
  std::vector<char*> arguments, variables;
  for (const std::string& word : run.words) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& one : run.variables) variables.push_back(const_cast<char*>(one.c_str()));
  for (char** one = environ; *one != nullptr; ++one) variables.push_back(*one);
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (run.input != STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, run.input, STDIN_FILENO);
  if (!run.is_shown)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  else if (json)
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  auto interrupted = ::signal(SIGINT, SIG_IGN);  // the job ends by it, and says so
  pid_t child = -1;
  int failed =
      ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed == 0)
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  ::signal(SIGINT, interrupted);
  if (failed != 0) return kExitFailure;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kExitSignalBase + WTERMSIG(status);
}

// The program runs twice: first for the times, then for the pages.
int record(const AdviseOptions& options, const std::string& front_end, const Folder& folder,
           const CommandContext& context) {
  auto input = advise::KeptInput::begin(folder.path() + "/input");
  if (!input) return failed(input.error());
  int code = run_job({.words = command_of(options, front_end, context),
                      .variables = {"TERRANE_RECORD=" + folder.times(), "TERRANE_RECORD_PAGES=0"},
                      .input = input.value()->first(),
                      .is_shown = true},
                     options.json);
  int again = input.value()->again();
  if (code == 0)
    code = run_job({.words = command_of(options, front_end, context),
                    .variables = {"TERRANE_RECORD=" + folder.recorded(), "TERRANE_PREDICT=never"},
                    .input = again},
                   options.json);
  if (code != 0) {
    base::log("terrane advise: the program ended with exit code {}, so there is no forecast", code);
  } else if (::access((folder.recorded() + "/0.record").c_str(), R_OK) != 0) {
    base::log(
        "terrane advise: the program uses no shared pages, so there is no forecast; chunks and "
        "OpenSHMEM are not forecast");
    return kExitFailure;
  }
  return code;
}

int answer(const AdviseOptions& options, const Folder& folder) {
  auto program = advise::RecordedProgram::read(folder.recorded(), folder.times());
  if (!program) return failed(program.error());
  advise::Question question{.round_trip_us = options.round_trip_us,
                            .bytes_per_second = options.megabytes_per_second * 1e6,
                            .processors = options.processors};
  if (!options.memory.empty()) {
    auto size = runtime::parse_size(options.memory);
    if (!size) return failed({"--memory: " + size.error().message});
    question.memory_bytes = size.value();
  }
  auto advice = advise::advise(*program.value(), question);
  if (!advice) return failed(advice.error());
  std::string text = options.json
                         ? advise::as_json(advice.value(), question) + "\n"
                         : "\n" + advise::as_text(advice.value(), *program.value(), question);
  bool good = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return good && std::fflush(stdout) == 0 ? 0 : failed(base::errno_error("cannot write"));
}

int run_advise(const AdviseOptions& options, const CommandContext& context) {
  if (!options.recorded.empty()) return answer(options, Folder(options.recorded));
  if (context.program.empty()) {
    base::log("no program: terrane advise [OPTIONS] PROGRAM [ARGUMENTS...]");
    return kExitUsage;
  }
  const char* search_path = std::getenv("PATH");
  ProgramLookup found =
      find_program(context.program[0], search_path ? search_path : "/usr/bin:/bin");
  if (found.exit_code != 0) {
    base::log("{}", found.error.message);
    return found.exit_code;
  }
  Folder folder = Folder::make(options.keep);
  if (!folder.is_there())
    return failed(base::errno_error(folder.path() + " cannot hold the recording"));
  if (folder.has_recording()) {
    base::log("--keep {}: a recording is there; give another folder, or --recorded for that one",
              options.keep);
    return kExitUsage;
  }
  std::string front_end =
      options.front_end == "auto" ? front_end_of(found.path) : options.front_end;
  if (int code = record(options, front_end, folder, context); code != 0) return code;
  return answer(options, folder);
}

}  // namespace

void add_advise_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<AdviseOptions>();
  CLI::App* command = app.add_subcommand(
      "advise",
      "Run a program twice on this host, and forecast it on more nodes and other networks");
  command
      ->add_option("-n,--nodes", options->nodes,
                   "Nodes that record it, a thread each: the forecast ends there; default 8")
      ->check(CLI::Range(2u, 64u))
      ->type_name("N");
  command
      ->add_option("--as", options->front_end,
                   "How it is run: as terrane omp, threads or run; default: as it is linked")
      ->check(CLI::IsMember({"auto", "omp", "threads", "run"}));
  command
      ->add_option("--round-trip", options->round_trip_us,
                   "Of a message between two nodes, as ping says it; default 60")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("MICROSECONDS");
  command
      ->add_option("--bandwidth", options->megabytes_per_second,
                   "Of a node's link, each way; default 1170, of 10 Gbit/s")
      ->check(CLI::Range(0.1, 1e6))
      ->type_name("MB/S");
  command->add_option("--processors", options->processors, "Of each node; default 1")
      ->check(CLI::Range(1u, 1024u))
      ->type_name("N");
  command->add_option("--memory", options->memory, "Of each node: whether the program's fits")
      ->type_name("SIZE");
  auto* keep = command->add_option("--keep", options->keep, "Keep the recording in this folder")
                   ->type_name("FOLDER");
  command->add_option("--recorded", options->recorded, "Ask anew about a recording that was kept")
      ->excludes(keep)
      ->type_name("FOLDER");
  command->add_flag("--json", options->json,
                    "For programs; what the program prints goes to standard error");
  command->formatter(std::make_shared<AdviseHelp>());
  command->footer("More: man terrane-advise.");
  command->callback([options, &context] { context.exit_code = run_advise(*options, context); });
}

}  // namespace terrane::tools
