#include "tools/report/stream_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "tools/report/drawing.h"
#include "tools/report/text.h"

namespace terrane::tools::report {
namespace {

constexpr std::size_t kMostRows = 100;    // of the table
constexpr std::size_t kMostStreams = 10;  // that are drawn
constexpr std::size_t kSteps = 100;       // of a drawing
constexpr int kHeight = 60;

// Of subscribers, in turn.
constexpr std::string_view kColours[] = {"#3b7dd8", "#e08a1e", "#3a9d5d",
                                         "#c0398f", "#7a5bd0", "#b5402f"};

std::string_view colour(std::size_t subscriber) {
  return kColours[subscriber % std::size(kColours)];
}

class Section {
 public:
  explicit Section(const JobLog& job) : job_(job) {}

  std::string write(const std::vector<Stream>& all) {
    std::size_t rows = 0;
    for (const Stream& stream : all)
      for (const Subscriber& one : stream.subscribers) rows += takes(one);
    if (rows == 0) return "";
    text_ +=
        "<h2>Streams, from publication until taken</h2>\n<table id=\"streams\"><tr>"
        "<th>stream</th><th>versions</th><th>per second</th><th class=\"m\">bytes</th>"
        "<th>subscriber</th><th>taken</th><th>left out</th><th>latency: median</th><th>99 %</th>"
        "<th>longest</th></tr>\n";
    std::size_t shown = 0;
    for (const Stream& stream : all)
      for (const Subscriber& one : stream.subscribers)
        if (takes(one) && shown++ < kMostRows) row(stream, one);
    text_ += "</table>\n";
    if (rows > kMostRows) put("<p>{} more subscribers are not shown.</p>\n", rows - kMostRows);
    std::size_t drawn = 0;
    for (const Stream& stream : all)
      if (drawn < kMostStreams && std::ranges::any_of(stream.subscribers, takes)) {
        ++drawn;
        draw(stream);
      }
    return std::move(text_);
  }

 private:
  using Steps = std::array<std::uint64_t, kSteps>;

  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  static bool takes(const Subscriber& one) { return !one.taken.empty(); }

  void row(const Stream& stream, const Subscriber& one) {
    put("<tr><td>{}</td><td>{}</td><td>{:.1f}</td><td class=\"m\">{}</td><td>node {}</td>"
        "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        escaped(text_of(job_, stream.object)), stream.published.size(), rate(stream),
        bytes_text(stream.bytes), job_.logs[one.log].node, one.taken.size() + one.unknown,
        one.left_out, time_text(one.latency_ns(50)), time_text(one.latency_ns(99)),
        time_text(one.latency_ns(100)));
  }

  // Versions a second, between the first and the last.
  static double rate(const Stream& stream) {
    std::uint64_t ns = stream.published.back() - stream.published.front();
    if (ns == 0) return 0;
    return static_cast<double>(stream.published.size() - 1) * 1e9 / static_cast<double>(ns);
  }

  std::size_t step_of(std::uint64_t time_ns) const {
    if (job_.length_ns == 0) return 0;
    double part = static_cast<double>(time_ns) / static_cast<double>(job_.length_ns);
    return std::min(kSteps - 1, static_cast<std::size_t>(part * kSteps));
  }

  void draw(const Stream& stream) {
    put("<p class=\"key\">{}: <span style=\"background:#888\"></span>published",
        escaped(text_of(job_, stream.object)));
    for (std::size_t i = 0; i < stream.subscribers.size(); ++i)
      if (takes(stream.subscribers[i]))
        put("<span style=\"background:{}\"></span>node {}", colour(i),
            job_.logs[stream.subscribers[i].log].node);
    put("</p>\n");
    draw_rates(stream);
    draw_latencies(stream);
  }

  // One line for the publications, one for each subscriber.
  void draw_rates(const Stream& stream) {
    std::vector<std::pair<std::string_view, Steps>> lines(1, {"#888", {}});
    for (std::uint64_t time_ns : stream.published) ++lines[0].second[step_of(time_ns)];
    for (std::size_t i = 0; i < stream.subscribers.size(); ++i) {
      if (!takes(stream.subscribers[i])) continue;
      Steps& steps = lines.emplace_back(colour(i), Steps{}).second;
      for (const Delivery& one : stream.subscribers[i].taken) ++steps[step_of(one.taken_ns)];
    }
    double step_s = static_cast<double>(job_.length_ns) / 1e9 / kSteps;
    lines_over_time(lines, "versions a second", [&](std::uint64_t most) {
      return step_s > 0 ? fmt::format("{:.0f}", static_cast<double>(most) / step_s) : std::string();
    });
  }

  // The longest of each step.
  void draw_latencies(const Stream& stream) {
    std::vector<std::pair<std::string_view, Steps>> lines;
    for (std::size_t i = 0; i < stream.subscribers.size(); ++i) {
      if (!takes(stream.subscribers[i])) continue;
      Steps& steps = lines.emplace_back(colour(i), Steps{}).second;
      for (const Delivery& one : stream.subscribers[i].taken) {
        std::uint64_t& step = steps[step_of(one.taken_ns)];
        step = std::max(step, one.latency_ns());
      }
    }
    lines_over_time(lines, "longest latency", time_text);
  }

  template <typename Unit>
  void lines_over_time(const std::vector<std::pair<std::string_view, Steps>>& lines,
                       std::string_view what, Unit unit) {
    std::uint64_t most = 1;
    for (const auto& [colour, steps] : lines)
      most = std::max(most, *std::ranges::max_element(steps));
    text_ += begin_drawing(job_, kHeight);
    put("<text x=\"0\" y=\"10\">{}</text>\n<text x=\"{}\" y=\"10\">{}</text>\n", unit(most),
        kLeft + 4, what);
    for (const auto& [colour, steps] : lines) {
      put("<polyline fill=\"none\" stroke=\"{}\" points=\"", colour);
      for (std::size_t p = 0; p < kSteps; ++p) {
        double y =
            kHeight - static_cast<double>(steps[p]) * (kHeight - 2) / static_cast<double>(most);
        put(" {},{:.1f} {},{:.1f}", kLeft + p * kWidth / kSteps, y,
            kLeft + (p + 1) * kWidth / kSteps, y);
      }
      text_ += "\"/>\n";
    }
    text_ += kEndDrawing;
  }

  const JobLog& job_;
  std::string text_;
};

}  // namespace

std::string stream_section(const JobLog& job, const std::vector<Stream>& all) {
  return Section(job).write(all);
}

std::string slowest_subscriber(const JobLog& job, const std::vector<Stream>& all) {
  Slowest found = slowest(all);
  if (found.subscriber == nullptr) return "";
  const NodeLog& log = job.logs[found.subscriber->log];
  return fmt::format(
      "The slowest subscriber was node {} on {}: it took the versions of {} {} after their "
      "publication (median; the fastest subscriber {}).",
      log.node, escaped(printable(log.host)), escaped(text_of(job, found.stream->object)),
      time_text(found.subscriber->latency_ns(50)), time_text(found.others_ns));
}

}  // namespace terrane::tools::report
