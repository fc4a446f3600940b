#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/log.h"
#include "tools/commands.h"
#include "tools/launch/exit_codes.h"
#include "tools/report/html.h"
#include "tools/report/trace_events.h"

namespace terrane::tools {
namespace {

struct ReportOptions {
  std::string log, html, perfetto;
};

// A file that is whole, or an error.
class OutputFile {
 public:
  explicit OutputFile(std::string path)
      : path_(std::move(path)), file_(std::fopen(path_.c_str(), "we")) {
    failed_ = file_ == nullptr;
  }
  ~OutputFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  OutputFile(const OutputFile&) = delete;

  void write(std::string_view text) {
    if (!failed_) failed_ = std::fwrite(text.data(), 1, text.size(), file_) != text.size();
  }
  base::Result<> finish() {
    failed_ = failed_ || std::fflush(file_) != 0;
    if (failed_) return base::errno_error(fmt::format("cannot write {}", path_));
    return {};
  }

 private:
  std::string path_;
  std::FILE* file_;
  bool failed_ = false;
};

// Beside the logs.
std::string page_path(const ReportOptions& options) {
  if (!options.html.empty()) return options.html;
  std::filesystem::path log(options.log);
  std::error_code why;
  if (std::filesystem::is_directory(log, why)) return (log / "report.html").string();
  return log.replace_extension(".html").string();
}

base::Result<> write_page(const report::JobLog& job, const std::string& path) {
  OutputFile file(path);
  file.write(report::as_html(job, report::count(job)));
  auto written = file.finish();
  if (written) fmt::print("{}: {} nodes, {} records\n", path, job.logs.size(), job.records);
  return written;
}

base::Result<> write_trace(const report::JobLog& job, const std::string& path) {
  OutputFile file(path);
  report::TraceLeftOut left_out =
      report::write_trace_events(job, [&](std::string_view text) { file.write(text); });
  auto written = file.finish();
  if (!written) return written;
  if (left_out.counters > 0)
    fmt::print("{}: the states of {} chunks are not in it, those that changed least\n", path,
               left_out.counters);
  if (left_out.events + left_out.arrows > 0)
    fmt::print("{}: {} events and {} arrows are not in it, since viewers cannot hold more\n", path,
               left_out.events, left_out.arrows);
  return written;
}

int run_report(const ReportOptions& options) {
  auto job = report::read_job(options.log);
  if (!job) {
    base::log("{}", job.error().message);
    return kExitFailure;
  }
  for (const std::string& note : job.value().notes) base::log("{}", note);
  auto written = write_page(job.value(), page_path(options));
  if (written && !options.perfetto.empty()) written = write_trace(job.value(), options.perfetto);
  if (written) return 0;
  base::log("{}", written.error().message);
  return kExitFailure;
}

}  // namespace

void add_report_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "Make a page of the event logs that terrane run --report wrote");
  command->add_option("LOG", options->log, "The folder of the logs, or one node's")->required();
  command
      ->add_option("-o,--output", options->html,
                   "The page; default report.html in the folder, or NODE.html beside the log")
      ->type_name("FILE");
  command
      ->add_option("--perfetto", options->perfetto,
                   "Also the events, for Perfetto's viewer (trace event JSON)")
      ->type_name("FILE");
  command->footer("More: man terrane-report.");
  command->callback([options, &context] { context.exit_code = run_report(*options); });
}

}  // namespace terrane::tools
