#include "rows.h"

#include <algorithm>
#include <cmath>

#include "heal.h"

namespace restore {
namespace {

// The kernel of the serial and of the shared solver. `to` is another array than the rest, which may
// be one row.
void relax_span(const double* __restrict above, const double* __restrict row,
                const double* __restrict below, double* __restrict to, Span span) {
  const double* __restrict left = row + span.left;
  const double* __restrict right = row + span.right;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    to[i] = 0.25 * ((above[i] + below[i]) + (left[i] + right[i]));
  }
}

// A line between the known pixels beside [first, end); the one known value, or middle grey, where
// the row ends.
void fill_between(double* row, std::uint32_t first, std::uint32_t end, std::uint32_t width,
                  std::uint32_t channels) {
  for (std::uint32_t c = 0; c < channels; ++c) {
    double before = 127.5;
    double after = 127.5;
    if (end < width) before = after = row[std::size_t{end} * channels + c];
    if (first > 0) before = row[std::size_t{first - 1} * channels + c];
    if (end == width) after = before;
    const double step = (after - before) / (end - first + 1);
    for (std::uint32_t x = first; x < end; ++x) {
      row[std::size_t{x} * channels + c] = before + step * (x - first + 1);
    }
  }
}

template <typename Visit>
void for_each_run(const std::uint8_t* mask, std::uint32_t width, Visit visit) {
  const std::uint8_t* const end = mask + width;
  for (const std::uint8_t* at = mask; at != end;) {
    const auto damaged = [](std::uint8_t kind) { return kind != 0; };
    const std::uint8_t* const first = std::find_if(at, end, damaged);
    at = std::find_if_not(first, end, damaged);
    if (first != at) {
      visit(static_cast<std::uint32_t>(first - mask), static_cast<std::uint32_t>(at - mask));
    }
  }
}

}  // namespace

DamagedRows::DamagedRows(const Damaged& picture, RowRange rows) : picture_(picture), rows_(rows) {
  row_spans_.push_back(0);
  for (std::uint32_t y = rows.first; y < rows.end; ++y) {
    find_spans_of_row(picture.mask + std::size_t{y} * picture.width);
    row_spans_.push_back(spans_.size());
  }
}

// Pixels at the left and right edge become spans of their own: their neighbours lie elsewhere.
void DamagedRows::find_spans_of_row(const std::uint8_t* mask) {
  const std::uint32_t last = picture_.width - 1;
  for_each_run(mask, picture_.width, [&](std::uint32_t first, std::uint32_t end) {
    if (first == 0) add_span(first++, 1);
    const bool at_right_edge = end == picture_.width;
    const std::uint32_t inner_end = at_right_edge ? last : end;
    if (first < inner_end) add_span(first, inner_end);
    if (at_right_edge) add_span(last, end);
  });
}

void DamagedRows::add_span(std::uint32_t first_pixel, std::uint32_t end_pixel) {
  const auto pixel = static_cast<std::int32_t>(picture_.channels);
  spans_.push_back({first_pixel * picture_.channels, end_pixel * picture_.channels,
                    first_pixel == 0 ? pixel : -pixel,
                    end_pixel == picture_.width ? -pixel : pixel});
}

void DamagedRows::initialise(double* a, double* b) const {
  const std::size_t length = picture_.row_samples();
  for (std::uint32_t y = rows_.first; y < rows_.end; ++y) {
    const std::size_t start = y * length;
    for (std::size_t i = start; i < start + length; ++i) a[i] = picture_.samples[i];
    for_each_run(picture_.mask + std::size_t{y} * picture_.width, picture_.width,
                 [&](std::uint32_t first, std::uint32_t end) {
                   fill_between(a + start, first, end, picture_.width, picture_.channels);
                 });
    std::copy_n(a + start, length, b + start);
  }
}

void DamagedRows::relax(const double* from, double* to) const {
  const std::size_t length = picture_.row_samples();
  for (std::uint32_t y = rows_.first; y < rows_.end; ++y) {
    const double* const row = from + y * length;
    const double* const above = y > 0 ? row - length : row + length;
    const double* const below = y + 1 < picture_.height ? row + length : row - length;
    const std::size_t end = row_spans_[y - rows_.first + 1];
    for (std::size_t i = row_spans_[y - rows_.first]; i < end; ++i) {
      relax_span(above, row, below, to + y * length, spans_[i]);
    }
  }
}

double DamagedRows::largest_change(const double* a, const double* b) const {
  const std::size_t length = picture_.row_samples();
  double largest = 0;
  for (std::uint32_t y = rows_.first; y < rows_.end; ++y) {
    const std::size_t end = row_spans_[y - rows_.first + 1];
    for (std::size_t i = row_spans_[y - rows_.first]; i < end; ++i) {
      for (std::size_t k = y * length + spans_[i].begin; k < y * length + spans_[i].end; ++k) {
        largest = std::max(largest, std::fabs(a[k] - b[k]));
      }
    }
  }
  return largest;
}

void DamagedRows::quantise(const double* solution, const Healing& healing,
                           std::uint8_t* samples) const {
  std::size_t i = rows_.first * picture_.row_samples();
  for (std::uint32_t y = rows_.first; y < rows_.end; ++y)
    for (std::uint32_t x = 0; x < picture_.width; ++x)
      for (std::uint32_t c = 0; c < picture_.channels; ++c, ++i) {
        const double value = solution[i] + healing.grain(x, y, c);
        samples[i] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0) + 0.5);
      }
}

std::vector<RowRange> split_rows(const std::uint8_t* mask, std::uint32_t width,
                                 std::uint32_t height, std::uint32_t parts) {
  std::vector<std::uint64_t> damaged_before(height + std::size_t{1});
  for (std::uint32_t y = 0; y < height; ++y) {
    const std::uint8_t* const row = mask + std::size_t{y} * width;
    const auto intact = static_cast<std::uint64_t>(std::count(row, row + width, 0));
    damaged_before[y + 1] = damaged_before[y] + (width - intact);
  }
  std::vector<RowRange> ranges(parts);
  std::uint32_t first = 0;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint64_t wanted = damaged_before[height] * (part + std::uint64_t{1}) / parts;
    const auto at = std::lower_bound(damaged_before.begin() + first, damaged_before.end(), wanted);
    const auto end = static_cast<std::uint32_t>(at - damaged_before.begin());
    ranges[part] = {first, part + 1 == parts ? height : end};
    first = ranges[part].end;
  }
  return ranges;
}

}  // namespace restore
