#include "options.h"

#include <algorithm>

#include "support/number.h"
#include "support/read_options.h"

namespace video {

const char* const kUsage =
    "Usage: video [OPTIONS] INPUT                          (threads of one process)\n"
    "       terrane run -n NODES video [OPTIONS] INPUT     (node 0 reads and writes, the others "
    "work)\n"
    "Finds the edges of each picture of a video by a 3x3 convolution.\n"
    "\n"
    "INPUT is a video file, a camera (/dev/video0), synthetic:WIDTHxHEIGHT:FRAMES, or\n"
    "fake-camera:WIDTHxHEIGHT:FRAMES.\n"
    "\n"
    "  --output FILE      write the result: .y4m, .gray (bytes alone), .mkv, .avi, .mp4 ...\n"
    "  --with NAME        the implementation: sequential, threads, chunks; sync, async, multiple\n"
    "                     (video_mpi); reqrep, dealer (video_zmq)\n"
    "  --kernel NAME      best, scalar, avx2, avx512 or neon (default best)\n"
    "  --repeat N         run the kernel N times for each frame, as a slower one would\n"
    "  --workers N        workers of threads and video_zmq (default 2)\n"
    "  --strips N         chunks: cut each frame into N strips with halos (default 1)\n"
    "  --buffers N        chunks: frames that may be read and not yet written (default W + 2)\n"
    "  --weighted         chunks: give frames by the measured speed of the workers\n"
    "  --live PORT        chunks: show the result as a page at http://localhost:PORT/\n"
    "  --endpoint KIND    video_zmq: ipc or tcp (default ipc)\n"
    "  --help             print this\n";

namespace {

using example::parse_number;

constexpr struct option kLongOptions[] = {
    {"output", required_argument, nullptr, 'o'},  {"with", required_argument, nullptr, 'w'},
    {"kernel", required_argument, nullptr, 'k'},  {"repeat", required_argument, nullptr, 'r'},
    {"workers", required_argument, nullptr, 'n'}, {"strips", required_argument, nullptr, 's'},
    {"buffers", required_argument, nullptr, 'b'}, {"weighted", no_argument, nullptr, 'm'},
    {"live", required_argument, nullptr, 'l'},    {"endpoint", required_argument, nullptr, 'e'},
    {"help", no_argument, nullptr, 'h'},          {nullptr, 0, nullptr, 0}};

Outcome<> take_count(const char* option, std::uint32_t most, std::uint32_t& out) {
  if (parse_number(optarg, 1u, most, out)) return success();
  return Failure{std::string("'") + optarg + "' is no value for " + option +
                 "; give a whole number from 1 to " + std::to_string(most)};
}

Outcome<> take_option(int option, Options& options) {
  switch (option) {
    case 'h':
      options.help = true;
      return success();
    case 'm':
      options.weighted = true;
      return success();
    case 'o':
      options.output = optarg;
      return success();
    case 'w':
      options.with = optarg;
      return success();
    case 'k':
      options.kernel = optarg;
      return success();
    case 'e':
      options.endpoint = optarg;
      if (options.endpoint == "ipc" || options.endpoint == "tcp") return success();
      return Failure{"'" + options.endpoint + "' is no value for --endpoint; give ipc or tcp"};
    case 'r':
      return take_count("--repeat", 100'000, options.repeat);
    case 'n':
      return take_count("--workers", 256, options.workers);
    case 'b':
      return take_count("--buffers", 1024, options.buffers);
    case 's':
      return take_count("--strips", 256, options.strips);
    default:
      return take_count("--live", 65535, options.live);
  }
}

Outcome<> check_implementation(Options& options, const std::vector<std::string>& implementations) {
  if (options.with.empty()) options.with = implementations.front();
  if (std::ranges::find(implementations, options.with) != implementations.end()) return success();
  std::string names;
  for (const std::string& name : implementations) names += (names.empty() ? "" : ", ") + name;
  return Failure{"'" + options.with + "' is no value for --with; this program has " + names};
}

}  // namespace

Outcome<Options> parse_options(int argc, char** argv,
                               const std::vector<std::string>& implementations) {
  Options options;
  Outcome<> read = example::read_options(argc, argv, kLongOptions,
                                         [&](int option) { return take_option(option, options); });
  if (!read.ok()) return Failure{read.sentence()};
  if (options.help) return options;
  Outcome<> known = check_implementation(options, implementations);
  if (!known.ok()) return Failure{known.sentence()};
  Outcome<std::string> word = example::only_word(argc, argv, "video");
  if (!word.ok()) return Failure{word.sentence()};
  options.input = word.value();
  return options;
}

void Work::run(Shape shape, const std::uint8_t* in, std::uint8_t* out) const {
  run(shape, {0, shape.height}, in, 0, out);
}

void Work::run(Shape shape, Rows rows, const std::uint8_t* in, std::uint32_t in_first,
               std::uint8_t* out) const {
  for (std::uint32_t time = 0; time < repeat; ++time) {
    convolve(kernel, shape, rows, in, in_first, out);
  }
}

Outcome<Work> choose_work(const Options& options) {
  Outcome<Kernel> kernel = choose_kernel(options.kernel);
  if (!kernel.ok()) return Failure{kernel.sentence()};
  return Work{kernel.value(), options.repeat};
}

}  // namespace video
