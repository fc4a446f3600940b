#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "sim/campaign.h"
#include "tools/commands.h"
#include "tools/sim_script.h"

namespace terrane::tools {
namespace {

constexpr int kExitViolation = 1;
constexpr int kExitMisuse = 2;
constexpr std::size_t kTraceLines = 60;

// The command line as it was written.
struct SimOptions {
  std::string protocol = "hlrc", mutant, racy = "mix", detection = "mix", predict, check;
  std::uint32_t nodes = 0;
  std::uint64_t histories = 100'000;
  std::uint64_t seed = 1;
  std::uint32_t jobs = std::max(1u, std::thread::hardware_concurrency());
  std::uint32_t check_every = 8;
  bool trace = false;
  bool no_shrink = false;
  bool coverage = false;
  std::string format;  // of the seed; empty: whatever it is
  std::string script;  // its file; empty: random histories
  bool update = false;
};

bool of_work(const SimOptions& options) { return options.protocol == "work_stream"; }
bool of_routing(const SimOptions& options) { return options.protocol == "routing"; }
bool of_chunks(const SimOptions& options) {
  return options.protocol == "mesi_chunk" || of_work(options);
}

sim::CampaignOptions campaign_of(const SimOptions& options) {
  sim::CampaignOptions campaign;
  if (of_chunks(options)) campaign.protocol = sim::Protocol::kMesiChunk;
  if (of_work(options)) campaign.protocol = sim::Protocol::kWorkStream;
  if (of_routing(options)) campaign.protocol = sim::Protocol::kRouting;
  if (options.protocol == "sc") campaign.protocol = sim::Protocol::kSc;
  campaign.shape.nodes = options.nodes;
  if (options.racy == "only") campaign.shape.racy = sim::Mix::kOnly;
  if (options.racy == "never") campaign.shape.racy = sim::Mix::kNever;
  campaign.shape.check_races = options.check.starts_with("races");
  campaign.shape.check_accesses = options.check == "races=reads";
  if (options.detection == "scan") campaign.shape.detection = sim::Detection::kScan;
  if (options.detection == "fault") campaign.shape.detection = sim::Detection::kFault;
  if (!options.predict.empty())
    if (auto set = sim::set_prediction(campaign.shape, options.predict); !set)
      throw CLI::ValidationError(set.error().message);
  campaign.seed = options.seed;
  campaign.histories = options.histories;
  campaign.jobs = options.jobs;
  campaign.careful_every = options.check_every;
  if (!options.mutant.empty()) campaign.mutant = options.mutant;
  return campaign;
}

// 20261128 and nine zeros, on that day (UTC): room for the seeds of a day.
std::uint64_t seed_of_today() {
  std::chrono::year_month_day day(
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  auto year = static_cast<std::uint64_t>(static_cast<int>(day.year()));
  std::uint64_t month_and_day = unsigned(day.month()) * 100u + unsigned(day.day());
  return (year * 10'000 + month_and_day) * 1'000'000'000;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The last of them, in columns.
void print_trace(const std::vector<std::string>& lines, std::size_t last) {
  std::size_t from = lines.size() > last ? lines.size() - last : 0;
  fmt::print("\nwhat happened{}\n",
             from > 0 ? fmt::format(" ({} steps before these; --trace prints them)", from) : "");
  fmt::print("  {:>6} {:<18} {:<22} {:<9} {}\n", "at", "actor", "step", "block", "-> result");
  for (std::size_t i = from; i < lines.size(); ++i) fmt::print("  {}\n", lines[i]);
}

void print_figures(const SimOptions& options, const sim::CampaignReport& report, double seconds) {
  auto whole = [](double value) { return static_cast<std::uint64_t>(value); };
  fmt::print("{} histories from seed {} in {:.1f} s: {} a second; {} counted ({})\n",
             report.histories, options.seed, seconds,
             whole(static_cast<double>(report.histories) / seconds), report.counted,
             of_work(options)      ? "with deaths"
             : of_routing(options) ? "with gateways or links lost"
             : of_chunks(options)  ? "20 scopes"
                                   : "4 nodes, 200 accesses, a lock, a barrier");
  if (of_chunks(options)) {
    fmt::print("{} messages: {} a second; {} scopes checked, {} steps\n", report.messages,
               whole(static_cast<double>(report.messages) / seconds), report.accesses,
               report.steps);
    return;
  }
  if (of_routing(options)) {
    fmt::print("{} frames: {} a second; {} messages checked, {} steps\n", report.messages,
               whole(static_cast<double>(report.messages) / seconds), report.accesses,
               report.steps);
    return;
  }
  fmt::print("{} messages: {} a second; {} accesses checked, {} page faults, {} steps\n",
             report.messages, whole(static_cast<double>(report.messages) / seconds),
             report.accesses, report.faults, report.steps);
}

void print_branches(const sim::CampaignReport& report) {
  std::size_t hit = 0;
  for (const sim::BranchCount& count : report.branches) hit += count.times > 0;
  fmt::print("branches of the protocol: {} of {} taken\n", hit, report.branches.size());
  for (const sim::BranchCount& count : report.branches)
    if (count.times == 0) fmt::print("  never: {}\n", count.branch);
}

std::string command_of(const SimOptions& options, std::uint64_t seed) {
  return fmt::format(
      "terrane sim --seed {} --format {} --histories 1{}{}{}{}{}{}{} --check-every {} --trace",
      seed, sim::seed_format(campaign_of(options).protocol),
      options.protocol == "hlrc" ? "" : " --protocol " + options.protocol,
      options.nodes ? fmt::format(" --nodes {}", options.nodes) : "",
      options.mutant.empty() ? "" : " --mutant " + options.mutant,
      options.predict.empty() ? "" : " --predict=" + options.predict,
      options.check.empty() ? "" : " --check=" + options.check,
      options.racy == "mix" ? "" : " --racy " + options.racy,
      options.detection == "mix" ? "" : " --detection " + options.detection, options.check_every);
}

// The reason, the program, what happened.
void print_failure(const SimOptions& options, std::uint64_t seed) {
  sim::CampaignOptions campaign = campaign_of(options);
  sim::Replay replay = sim::replay(campaign, seed);
  sim::Shrunk shrunk;
  if (!options.no_shrink) shrunk = sim::shrink(campaign, seed);
  bool small = !shrunk.reason.empty();
  fmt::print("seed {} breaks a rule{}\n{}\n", seed,
             of_chunks(options) || of_routing(options)
                 ? ""
                 : ", with " + sim::predictor_of(campaign, seed),
             small ? shrunk.reason : replay.reason);
  if (small)
    fmt::print("\nthe smallest program found ({} histories tried)\n{}", shrunk.tried,
               shrunk.program);
  print_trace(small ? shrunk.trace : replay.trace, options.trace ? ~std::size_t{0} : kTraceLines);
  if (small) fmt::print("\nthe whole program of the seed fails so\n{}\n", replay.reason);
  fmt::print("\nonce more: {}\n\n", command_of(options, seed));
}

int list_mutants(const SimOptions& options) {
  for (std::string_view name : sim::mutant_names(campaign_of(options).protocol))
    fmt::print("{}\n", name);
  return 0;
}

// Every planted fault in turn: each must be caught.
int run_mutants(const SimOptions& options) {
  int missed = 0;
  for (std::string_view name : sim::mutant_names(campaign_of(options).protocol)) {
    sim::CampaignOptions campaign = campaign_of(options);
    campaign.mutant = name;
    sim::CampaignReport report = sim::run_campaign(campaign);
    if (report.failed_seed) {
      fmt::print("{:<24} caught by seed {:<7} {}\n", name, *report.failed_seed, report.reason);
    } else {
      fmt::print("{:<24} NOT CAUGHT in {} histories\n", name, report.histories);
      ++missed;
    }
    std::fflush(stdout);
  }
  return missed > 0 ? kExitViolation : 0;
}

bool is_of_this_version(const SimOptions& options) {
  std::string format = sim::seed_format(campaign_of(options).protocol);
  if (options.format.empty() || options.format == format) return true;
  fmt::print(stderr,
             "terrane sim: seed {} is of format {}, and this version draws programs of format {}: "
             "the seed names another program here; without --format it is run all the same\n",
             options.seed, options.format, format);
  return false;
}

int run_sim(const SimOptions& options) {
  if (!options.script.empty()) return run_script(options.script, options.update, options.trace);
  if (!is_of_this_version(options)) return kExitMisuse;
  if (options.mutant == "list") return list_mutants(options);
  if (options.mutant == "all") return run_mutants(options);
  auto start = std::chrono::steady_clock::now();
  sim::CampaignReport report = sim::run_campaign(campaign_of(options));
  double seconds = seconds_since(start);
  if (report.failed_seed) print_failure(options, *report.failed_seed);
  print_figures(options, report, seconds);
  if (options.coverage) print_branches(report);
  fmt::print("hash {:016x}\n", report.hash);
  if (report.failed_seed) return kExitViolation;
  if (options.trace && options.histories == 1)
    print_trace(sim::replay(campaign_of(options), options.seed).trace, ~std::size_t{0});
  fmt::print("{}\n", of_routing(options) ? "all rules hold" : "the memory model holds");
  return 0;
}

std::string known_mutant(const std::string& name) {
  if (name == "all" || name == "list") return {};
  for (sim::Protocol protocol :
       {sim::Protocol::kHlrc, sim::Protocol::kSc, sim::Protocol::kMesiChunk,
        sim::Protocol::kWorkStream, sim::Protocol::kRouting}) {
    auto names = sim::mutant_names(protocol);
    if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  }
  return fmt::format("there is no planted fault {}; --mutant list shows them", name);
}

}  // namespace

void add_sim_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<SimOptions>();
  CLI::App* command = app.add_subcommand(
      "sim", "Check a protocol against the memory model in random simulated histories");
  command->add_option("--protocol", options->protocol, "The protocol")
      ->check(CLI::IsMember({"hlrc", "sc", "mesi_chunk", "work_stream", "routing"}))
      ->capture_default_str();
  command->add_option("--nodes", options->nodes, "Nodes of each history (default: 4 to 6)")
      ->check(CLI::Range(2, 16));
  command->add_option("--histories", options->histories, "How many")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  command
      ->add_option("--seed", options->seed,
                   "The first history's seed; each has the next. today: another one each day")
      ->transform(
          [](std::string text) { return text == "today" ? std::to_string(seed_of_today()) : text; })
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "Threads that simulate")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--mutant", options->mutant,
                   "Plant a fault: its name, all of them in turn (all), or show them (list)")
      ->check(known_mutant);
  command
      ->add_option(
          "--predict", options->predict,
          "Who predicts: random, or as of terrane run --predict (default: random in half of "
          "the histories)")
      ->check([](const std::string& text) {
        sim::Shape shape;
        auto set = sim::set_prediction(shape, text);
        return set ? std::string() : set.error().message;
      });
  command->add_option("--racy", options->racy, "Programs with data races: only, never, mix")
      ->check(CLI::IsMember({"only", "never", "mix"}))
      ->capture_default_str();
  command
      ->add_option("--check", options->check,
                   "races: homes look for races, and must find those that are there; races=reads: "
                   "and those of loads with stores")
      ->check(CLI::IsMember({"races", "races=reads"}));
  command->add_option("--detection", options->detection, "Write detection: scan, fault, mix")
      ->check(CLI::IsMember({"scan", "fault", "mix"}))
      ->capture_default_str();
  command
      ->add_option("--check-every", options->check_every,
                   "Check the protocol's invariants after every step of each Nth history")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_flag("--trace", options->trace, "Print everything that happened in the history");
  command->add_flag("--no-shrink", options->no_shrink, "Leave a failing program as it is");
  command->add_flag("--coverage", options->coverage,
                    "Name the branches of the protocol that no history took");
  command->add_option("--format", options->format,
                      "The format of the seed, as a failure printed it: refuse any other");
  CLI::Option* script =
      command->add_option("--script", options->script, "Run a program that a person has written")
          ->check(CLI::ExistingFile);
  command
      ->add_flag("--update", options->update,
                 "Write the trace that was found into the script, in place of the expected one")
      ->needs(script);
  command->callback([options, &context] { context.exit_code = run_sim(*options); });
}

}  // namespace terrane::tools
