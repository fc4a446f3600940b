// A pipeline with two buffers between its stages: one makes frames, one filters them, one adds them
// up. While a stage works on a frame the one before fills the next. A slow stage slows the others,
// and no frame is lost. Usage: terrane run -n 3 pipeline [FRAMES [WIDTH HEIGHT]]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <terrane/chunks.hpp>
#include <thread>
#include <vector>

using namespace terrane::chunks;
using Pixel = std::uint8_t;

struct Size {
  long frames;
  std::size_t width, height;
  std::size_t pixels() const { return width * height; }
};

static void draw(std::span<Pixel> frame, long number) {
  for (std::size_t i = 0; i < frame.size(); ++i)
    frame[i] = static_cast<Pixel>(i * 7 + static_cast<std::size_t>(number) * 13);
}

static Pixel invert(Pixel pixel) { return static_cast<Pixel>(255 - pixel); }

// Each stage is a thread of the node that it falls to; all have the same streams.
static void make(const Size& size, Chunk<Pixel> raw) {
  for (long number = 0; number < size.frames; ++number) draw(raw.write(), number);
}

static void filter(const Size& size, const Subscription<Pixel>& raw, Chunk<Pixel> filtered) {
  for (long number = 0; number < size.frames; ++number) {
    Scope<const Pixel> from = raw.take();
    Scope<Pixel> to = filtered.write();
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = invert(from[i]);
  }
}

static bool add_up(const Size& size, const Subscription<Pixel>& filtered) {
  std::uint64_t sum = 0, expected = 0;
  std::vector<Pixel> frame(size.pixels());
  for (long number = 0; number < size.frames; ++number) {
    for (Pixel pixel : filtered.take()) sum += pixel;
    draw(frame, number);
    for (Pixel pixel : frame) expected += invert(pixel);
  }
  std::printf("%ld frames of %zu x %zu: the sum is %s\n", size.frames, size.width, size.height,
              sum == expected ? "right" : "wrong");
  return sum == expected;
}

int main(int argc, char** argv) {
  auto argument = [&](int at, long otherwise) {
    return argc > at && std::atol(argv[at]) > 0 ? std::atol(argv[at]) : otherwise;
  };
  const Size size{argument(1, 100), static_cast<std::size_t>(argument(2, 640)),
                  static_cast<std::size_t>(argument(3, 480))};
  Job job;
  auto mine = [&](int stage) { return stage % job.nodes() == job.node(); };
  Chunk<Pixel> raw = job.create<Pixel>("raw", size.pixels(), Coherence::kStream);
  Chunk<Pixel> filtered = job.create<Pixel>("filtered", size.pixels(), Coherence::kStream);

  bool right = true;
  std::vector<std::thread> stages;
  // A stage that takes is there before the one that makes: the first frame that it sees is the
  // first of all.
  if (mine(2)) {
    auto subscription =
        std::make_shared<Subscription<Pixel>>(filtered.subscribe(Policy::kBlock, 2));
    job.create<char>("sum is ready", 1);
    stages.emplace_back([&, subscription] { right = add_up(size, *subscription); });
  }
  if (mine(1)) {
    auto subscription = std::make_shared<Subscription<Pixel>>(raw.subscribe(Policy::kBlock, 2));
    job.find<char>("sum is ready");
    job.create<char>("filter is ready", 1);
    stages.emplace_back([&, subscription] { filter(size, *subscription, filtered); });
  }
  if (mine(0)) {
    job.find<char>("filter is ready");
    stages.emplace_back([&] { make(size, raw); });
  }
  for (std::thread& stage : stages) stage.join();
  return right ? 0 : 1;
}
