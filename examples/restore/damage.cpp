#include "damage.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/random.h"

namespace restore {
namespace {

using example::Random;

struct Point {
  double x, y;
};

Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator*(double k, Point a) { return {k * a.x, k * a.y}; }
double length(Point a) { return std::sqrt(a.x * a.x + a.y * a.y); }

Point in_unit_disc(Random& random) {
  for (;;) {
    const Point p{random.between(-1, 1), random.between(-1, 1)};
    const double size = length(p);
    if (size <= 1 && size > 0.01) return p;
  }
}

// A mask and the pen that marks it.
class Canvas {
 public:
  Canvas(std::uint32_t width, std::uint32_t height)
      : width_(width), height_(height), mask_(std::size_t{width} * height) {}

  void disc(Point centre, double radius, Damage kind) {
    const int top = std::max(0, static_cast<int>(std::ceil(centre.y - radius)));
    const int bottom = std::min(height_ - 1, static_cast<int>(std::floor(centre.y + radius)));
    for (int y = top; y <= bottom; ++y) {
      const double half =
          std::sqrt(std::max(0.0, radius * radius - (y - centre.y) * (y - centre.y)));
      const int left = std::max(0, static_cast<int>(std::ceil(centre.x - half)));
      const int right = std::min(width_ - 1, static_cast<int>(std::floor(centre.x + half)));
      for (int x = left; x <= right; ++x) {
        mask_[static_cast<std::size_t>(y) * width_ + x] = static_cast<std::uint8_t>(kind);
      }
    }
  }

  // A quadratic Bezier curve from a to c, drawn by a round pen.
  void curve(Point a, Point b, Point c, double radius, Damage kind) {
    const double path = length(b + -1 * a) + length(c + -1 * b);
    const int steps = 1 + static_cast<int>(path / std::max(0.5, radius * 0.5));
    for (int i = 0; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps;
      disc((1 - t) * (1 - t) * a + 2 * t * (1 - t) * b + t * t * c, radius, kind);
    }
  }

  double width() const { return width_; }
  double height() const { return height_; }
  // What is one pixel wide in a picture of 768 rows.
  double unit() const { return std::min(width_, height_) / 768.0; }
  Mask take() { return std::move(mask_); }

 private:
  int width_, height_;
  Mask mask_;
};

void draw_scratch(Canvas& canvas, Random& random) {
  Point at{random.between(0, canvas.width()), random.between(0, canvas.height())};
  Point heading = in_unit_disc(random);
  heading = (1 / length(heading)) * heading;
  const double radius = canvas.unit() * random.between(0.8, 2.4);
  const double step = 12 * canvas.unit();
  const int steps = random.count(20, 70);
  for (int i = 0; i < steps; ++i) {
    const Point bend = heading + 0.12 * in_unit_disc(random);
    heading = (1 / length(bend)) * bend;
    const Point to = at + step * heading;
    canvas.curve(at, 0.5 * (at + to), to, radius, Damage::kScratch);
    at = to;
  }
}

// A disc up to `reach` from the centre, its radius in [smallest, largest).
void draw_drop(Canvas& canvas, Random& random, Point centre, double reach, double smallest,
               double largest) {
  const Point at = centre + reach * in_unit_disc(random);
  canvas.disc(at, random.between(smallest, largest), Damage::kBlot);
}

// A blot is a heap of discs around a centre, with droplets thrown off it.
void draw_blot(Canvas& canvas, Random& random) {
  const Point centre{random.between(0, canvas.width()), random.between(0, canvas.height())};
  const double size = canvas.unit() * random.between(14, 36);
  canvas.disc(centre, size * 0.8, Damage::kBlot);
  for (int i = 0; i < 14; ++i)
    draw_drop(canvas, random, centre, 0.75 * size, 0.25 * size, 0.5 * size);
  const int droplets = random.count(5, 12);
  for (int i = 0; i < droplets; ++i) {
    draw_drop(canvas, random, centre, 2.4 * size, 0.04 * size, 0.16 * size);
  }
}

// One letter: curves that flow into each other through a box of `wide` x `tall`, from its lower
// left to its lower right.
void draw_letter(Canvas& canvas, Random& random, Point at, double wide, double tall, double pen) {
  Point from = at;
  Point bend = at + Point{wide * random.between(0, 0.5), -tall * random.between(0.5, 1)};
  const int strokes = random.count(2, 4);
  for (int i = 1; i <= strokes; ++i) {
    Point to = at + Point{wide, 0};
    if (i < strokes) to = at + Point{wide * random.between(0, 1), -tall * random.between(0, 1)};
    canvas.curve(from, bend, to, pen, Damage::kInk);
    bend = to + 0.7 * (to + -1 * bend);  // the next curve leaves in this one's direction
    from = to;
  }
}

void draw_handwriting(Canvas& canvas, Random& random, double baseline) {
  const double unit = canvas.unit();
  const double tall = 34 * unit;
  const double pen = unit * random.between(2.0, 2.8);
  const double slope = random.between(-0.04, 0.04);
  const double end = canvas.width() * random.between(0.7, 0.97);
  double x = canvas.width() * random.between(0.03, 0.15);
  while (x < end) {
    const int letters = random.count(3, 8);
    for (int i = 0; i < letters && x < end; ++i) {
      const double wide = unit * random.between(14, 24);
      const double height = tall * (random.count(0, 3) == 0 ? 1.5 : 0.8);
      draw_letter(canvas, random, {x, baseline + slope * x}, wide, height, pen);
      x += wide;
    }
    x += 16 * unit;
  }
}

// The colour of each kind of damage in red, green, blue.
std::array<std::uint8_t, 3> colour_of(std::uint8_t damage) {
  switch (static_cast<Damage>(damage)) {
    case Damage::kScratch:
      return {238, 234, 226};
    case Damage::kBlot:
      return {104, 58, 28};
    case Damage::kInk:
      return {196, 32, 44};
    default:
      return {0, 0, 0};
  }
}

std::uint8_t grey_of(const std::array<std::uint8_t, 3>& colour) {
  return static_cast<std::uint8_t>((54 * colour[0] + 183 * colour[1] + 19 * colour[2]) >> 8);
}

}  // namespace

Mask make_damage(std::uint32_t width, std::uint32_t height, std::uint64_t seed) {
  Random random(seed);
  Canvas canvas(width, height);
  constexpr int kLines = 9;
  for (int i = 0; i < kLines; ++i) {
    draw_handwriting(canvas, random, height * (i + random.between(0.6, 0.9)) / kLines);
  }
  const int blots = random.count(22, 28);
  for (int i = 0; i < blots; ++i) draw_blot(canvas, random);
  const int scratches = random.count(34, 42);
  for (int i = 0; i < scratches; ++i) draw_scratch(canvas, random);
  return canvas.take();
}

Mask mask_from_picture(const Image& picture) {
  Mask mask(std::size_t{picture.width} * picture.height);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const std::uint8_t* pixel = &picture.samples[i * picture.channels];
    const std::uint8_t grey =
        picture.channels == 1 ? pixel[0] : grey_of({pixel[0], pixel[1], pixel[2]});
    mask[i] = static_cast<std::uint8_t>(grey > 127 ? Damage::kErased : Damage::kNone);
  }
  return mask;
}

std::size_t count_damaged(const Mask& mask) {
  return mask.size() - static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 0));
}

void paint_damage(const Mask& mask, Image& image) {
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    const auto colour = colour_of(mask[i]);
    std::uint8_t* pixel = &image.samples[i * image.channels];
    if (image.channels == 1) {
      pixel[0] = grey_of(colour);
    } else {
      std::copy(colour.begin(), colour.end(), pixel);
    }
  }
}

}  // namespace restore
