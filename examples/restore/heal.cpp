#include "heal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace restore {
namespace {

constexpr std::uint16_t kThirds = 3;            // of a pixel, the unit of depths
constexpr std::uint16_t kMiddle = 5 * kThirds;  // so deep begins the middle of a blot
constexpr std::uint16_t kFull = 9 * kThirds;    // and so deep its grain is complete
constexpr int kBlur = 5;                        // pixels around one that are no detail of it
constexpr int kRing = 12;                       // pixels around a middle that are compared
constexpr int kStride = 3;    // of these, every third in a row, and every third row
constexpr int kFarthest = 8;  // rings of places that are tried
constexpr int kDirections = 16;

}  // namespace

Healing::Healing(const Damaged& picture, const double* solution)
    : picture_(picture), solution_(solution) {
  measure_depths();
  label_middles();
  for (std::size_t i = 0; i < middles_.size(); ++i) choose_source(i);
}

std::size_t Healing::at(std::int64_t x, std::int64_t y) const {
  return static_cast<std::size_t>(y) * picture_.width + static_cast<std::size_t>(x);
}

// Two passes with steps of 3 and, diagonally, 4 thirds of a pixel.
void Healing::measure_depths() {
  const std::int64_t width = picture_.width;
  const std::int64_t height = picture_.height;
  constexpr std::uint16_t kDeep = std::numeric_limits<std::uint16_t>::max() / 2;
  depth_.resize(at(0, height));
  for (std::size_t i = 0; i < depth_.size(); ++i) depth_[i] = picture_.mask[i] == 0 ? 0 : kDeep;
  const auto closer = [&](std::size_t pixel, std::int64_t x, std::int64_t y, int step) {
    if (x < 0 || x >= width || y < 0 || y >= height) return;
    depth_[pixel] = std::min<std::uint16_t>(depth_[pixel], depth_[at(x, y)] + step);
  };
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      closer(at(x, y), x - 1, y, 3);
      for (int d = -1; d <= 1; ++d) closer(at(x, y), x + d, y - 1, d == 0 ? 3 : 4);
    }
  for (std::int64_t y = height - 1; y >= 0; --y)
    for (std::int64_t x = width - 1; x >= 0; --x) {
      closer(at(x, y), x + 1, y, 3);
      for (int d = -1; d <= 1; ++d) closer(at(x, y), x + d, y + 1, d == 0 ? 3 : 4);
    }
}

void Healing::label_middles() {
  label_.assign(depth_.size(), 0);
  for (std::uint32_t y = 0; y < picture_.height; ++y)
    for (std::uint32_t x = 0; x < picture_.width; ++x)
      if (depth_[at(x, y)] >= kMiddle && label_[at(x, y)] == 0) spread(x, y);
}

// A new middle: this pixel, and all that hang together with it.
void Healing::spread(std::uint32_t x, std::uint32_t y) {
  Middle middle{x, x, y, y};
  const auto label = static_cast<std::uint32_t>(middles_.size() + 1);
  std::vector<std::array<std::uint32_t, 2>> open{{x, y}};
  label_[at(x, y)] = label;
  while (!open.empty()) {
    const auto [px, py] = open.back();
    open.pop_back();
    middle.left = std::min(middle.left, px);
    middle.right = std::max(middle.right, px);
    middle.top = std::min(middle.top, py);
    middle.bottom = std::max(middle.bottom, py);
    const std::array<std::array<std::int64_t, 2>, 4> beside{{{px - std::int64_t{1}, py},
                                                             {px + std::int64_t{1}, py},
                                                             {px, py - std::int64_t{1}},
                                                             {px, py + std::int64_t{1}}}};
    for (const auto [nx, ny] : beside) {
      if (nx < 0 || nx >= picture_.width || ny < 0 || ny >= picture_.height) continue;
      if (depth_[at(nx, ny)] < kMiddle || label_[at(nx, ny)] != 0) continue;
      label_[at(nx, ny)] = label;
      open.push_back({static_cast<std::uint32_t>(nx), static_cast<std::uint32_t>(ny)});
    }
  }
  middles_.push_back(middle);
}

// Of places around it, the one that differs least: from the blot's surroundings in colour, and with
// the least damage itself.
void Healing::choose_source(std::size_t number) {
  Middle& middle = middles_[number];
  const auto label = static_cast<std::uint32_t>(number + 1);
  const double size =
      std::max(middle.right - middle.left, middle.bottom - middle.top) + 2.0 * kRing;
  double best = std::numeric_limits<double>::max();
  std::int32_t dx = 0;
  std::int32_t dy = 0;
  for (int ring = 1; ring <= kFarthest; ++ring)
    for (int direction = 0; direction < kDirections; ++direction) {
      const double angle = 2 * 3.14159265358979 * (direction + 0.5 * (ring % 2)) / kDirections;
      const double reach = size * (0.5 + 0.25 * ring);
      const auto x = static_cast<std::int32_t>(std::lround(reach * std::cos(angle)));
      const auto y = static_cast<std::int32_t>(std::lround(reach * std::sin(angle)));
      const double found = difference(middle, label, x, y);
      if (found >= best) continue;
      best = found;
      dx = x;
      dy = y;
    }
  middle.dx = dx;
  middle.dy = dy;
}

// Infinite where the place lies beyond the picture.
double Healing::difference(const Middle& middle, std::uint32_t label, std::int32_t dx,
                           std::int32_t dy) const {
  const std::int64_t left = std::max<std::int64_t>(0, std::int64_t{middle.left} - kRing);
  const std::int64_t right =
      std::min<std::int64_t>(picture_.width - 1, std::int64_t{middle.right} + kRing);
  const std::int64_t top = std::max<std::int64_t>(0, std::int64_t{middle.top} - kRing);
  const std::int64_t bottom =
      std::min<std::int64_t>(picture_.height - 1, std::int64_t{middle.bottom} + kRing);
  if (left + dx < 0 || right + dx >= picture_.width || top + dy < 0 ||
      bottom + dy >= picture_.height)
    return std::numeric_limits<double>::max();
  double colour = 0;
  std::size_t compared = 1;
  std::size_t damaged = 0;
  std::size_t inside = 1;
  for (std::int64_t y = top; y <= bottom; y += kStride)
    for (std::int64_t x = left; x <= right; x += kStride) {
      const std::size_t here = at(x, y);
      const std::size_t there = at(x + dx, y + dy);
      if (label_[here] == label) {
        ++inside;
        damaged += picture_.mask[there] != 0 ? 1 : 0;
      } else if (picture_.mask[here] == 0) {
        ++compared;
        for (std::uint32_t c = 0; c < picture_.channels; ++c)
          colour += std::fabs(solution_[here * picture_.channels + c] -
                              solution_[there * picture_.channels + c]);
      }
    }
  constexpr double kDamage = 200;  // all damaged counts as much as so many steps of brightness
  return colour / static_cast<double>(compared * picture_.channels) +
         kDamage * static_cast<double>(damaged) / static_cast<double>(inside);
}

double Healing::mean_around(std::int64_t x, std::int64_t y, std::uint32_t channel) const {
  double sum = 0;
  int count = 0;
  for (std::int64_t v = std::max<std::int64_t>(0, y - kBlur);
       v <= std::min<std::int64_t>(picture_.height - 1, y + kBlur); ++v)
    for (std::int64_t u = std::max<std::int64_t>(0, x - kBlur);
         u <= std::min<std::int64_t>(picture_.width - 1, x + kBlur); ++u) {
      sum += solution_[at(u, v) * picture_.channels + channel];
      ++count;
    }
  return sum / count;
}

double Healing::grain(std::uint32_t x, std::uint32_t y, std::uint32_t channel) const {
  const std::uint32_t label = label_[at(x, y)];
  if (label == 0) return 0;
  const Middle& middle = middles_[label - 1];
  const std::int64_t u = std::int64_t{x} + middle.dx;
  const std::int64_t v = std::int64_t{y} + middle.dy;
  if (u < 0 || u >= picture_.width || v < 0 || v >= picture_.height) return 0;
  const double depth = depth_[at(x, y)];
  const double weight = std::min(1.0, (depth - kMiddle + 1) / (kFull - kMiddle));
  return weight * (solution_[at(u, v) * picture_.channels + channel] - mean_around(u, v, channel));
}

}  // namespace restore
