#include "tools/report/drawing.h"

#include <fmt/format.h>

#include <iterator>

#include "tools/report/text.h"

namespace terrane::tools::report {
namespace {

constexpr int kTicks = 4;

}  // namespace

std::string begin_drawing(const JobLog& job, int height) {
  std::string svg = fmt::format(
      "<div class=\"wide\"><svg width=\"{}\" height=\"{}\">\n<rect class=\"plot\" x=\"{}\" y=\"0\" "
      "width=\"{}\" "
      "height=\"{}\"/>\n",
      kLeft + kWidth + kLeft, height + kBelow, kLeft, kWidth, height);
  for (int tick = 0; tick <= kTicks; ++tick) {
    int x = kLeft + tick * kWidth / kTicks;
    fmt::format_to(
        std::back_inserter(svg),
        "<line x1=\"{}\" y1=\"0\" x2=\"{}\" y2=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n", x, x,
        height + 3, x + 2, height + kBelow - 3,
        time_text(job.length_ns / kTicks * static_cast<std::uint64_t>(tick)));
  }
  return svg;
}

std::string time_at(const JobLog& job, std::size_t point) {
  return time_text(job.length_ns / kPoints * point);
}

}  // namespace terrane::tools::report
