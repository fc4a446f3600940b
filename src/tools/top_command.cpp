#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/log.h"
#include "tools/commands.h"
#include "tools/launch/exit_codes.h"
#include "tools/top/client.h"
#include "tools/top/rates.h"
#include "tools/top/screen.h"
#include "tools/top/show.h"
#include "tools/top/source_lines.h"

namespace terrane::tools {
namespace {

struct TopOptions {
  std::string job;
  bool json = false, once = false;
  double interval = 1;
  std::uint64_t interval_ms() const { return static_cast<std::uint64_t>(interval * 1000); }
};

// Views one after the other, as rates.
class Views {
 public:
  explicit Views(top::Client& client) : client_(client) {}

  // Before the first rates.
  base::Result<> begin() {
    auto first = client_.ask();
    if (!first) return first.error();
    before_ = std::move(first).value();
    return {};
  }
  base::Result<top::JobRates> next() {
    auto now = client_.ask();
    if (!now) return now.error();
    top::JobRates rates = top::rates_of(before_, now.value());
    before_ = std::move(now).value();
    lines_.name(rates);
    return rates;
  }

 private:
  top::Client& client_;
  JobView before_;
  top::SourceLines lines_;
};

int failed(const base::Error& error) {
  base::log("{}", error.message);
  return kExitFailure;
}

bool print(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0;
}

// Without a terminal: lines of JSON, or one view.
int print_views(top::Client& client, const TopOptions& options) {
  Views views(client);
  if (auto begun = views.begin(); !begun) return failed(begun.error());
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(options.interval_ms()));
    auto rates = views.next();
    if (!rates && client.has_ended() && !options.once) return 0;
    if (!rates) return failed(rates.error());
    std::string text;
    if (options.json) {
      text = top::as_json(rates.value());
    } else {
      for (const std::string& line : top::as_lines(rates.value(), 0, 0))
        text += (text.empty() ? "" : "\n") + line;
    }
    if (!print(text)) return failed(base::errno_error("cannot write"));
    if (options.once) return 0;
  }
}

int show_views(top::Client& client, const TopOptions& options) {
  Views views(client);
  if (auto begun = views.begin(); !begun) return failed(begun.error());
  base::Error why;
  {
    top::Screen screen;
    screen.draw({fmt::format("terrane top: job {}: counting ...", client.name())});
    while (screen.wait(options.interval_ms())) {
      auto rates = views.next();
      if (!rates) {
        why = rates.error();
        break;
      }
      auto [width, height] = screen.size();
      screen.draw(top::as_lines(rates.value(), width, height));
    }
  }
  if (why.message.empty()) return 0;
  base::log("{}", why.message);
  return client.has_ended() ? 0 : kExitFailure;
}

int run_top(const TopOptions& options) {
  bool is_live = !options.json && !options.once;
  if (is_live && ::isatty(STDOUT_FILENO) == 0) {
    base::log(
        "the standard output is no terminal: give --once for one view, or --json for a line of "
        "JSON a second");
    return kExitUsage;
  }
  auto client = top::Client::connect(options.job);
  if (!client) return failed(client.error());
  return is_live ? show_views(client.value(), options) : print_views(client.value(), options);
}

}  // namespace

void add_top_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command =
      app.add_subcommand("top", "Show what the nodes of a running job do, once a second");
  command->add_option("JOB", options->job,
                      "The job's name, or the number of its process; default: the only one");
  command->add_flag("--json", options->json, "A line of JSON a second, for programs");
  command->add_flag("--once", options->once, "One view of one interval, then end");
  command->add_option("--interval", options->interval, "Time between two views; default 1")
      ->check(CLI::Range(0.1, 3600.0))
      ->type_name("SECONDS");
  command->footer("Keys: q ends, space shows the next view. More: man terrane-top.");
  command->callback([options, &context] { context.exit_code = run_top(*options); });
}

}  // namespace terrane::tools
