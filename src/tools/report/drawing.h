#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/report/job_log.h"

namespace terrane::tools::report {

// Drawings over the job's time, as SVG: kWidth wide, at the right of room for names.
inline constexpr int kWidth = 900, kLeft = 70, kBelow = 16;
inline constexpr std::size_t kPoints = 300;  // equal steps of time

// Begins a drawing of this height, with marks of time below it. kEndDrawing ends it. A window that
// is narrower scrolls it.
inline constexpr std::string_view kEndDrawing = "</svg></div>\n";
std::string begin_drawing(const JobLog& job, int height);
// When a step begins, as text.
std::string time_at(const JobLog& job, std::size_t point);

}  // namespace terrane::tools::report
