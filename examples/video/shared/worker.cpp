#include <cstring>

#include "shared/pipeline.h"

namespace video {
namespace {

constexpr std::uint64_t kFramesAtOnce = 2;  // one is processed, the next one is on its way
constexpr std::uint64_t kFramesToKnow = 4;  // measured before the guard speaks

using Taken = terrane::chunks::TakenVersion<std::byte>;

Trailer trailer_of(const Taken& version) {
  Trailer trailer;
  std::memcpy(&trailer, version.data() + version.size() - sizeof trailer, sizeof trailer);
  return trailer;
}

// Whether the others finish all that is left before this worker finishes one part more. Each worker
// judges by times of another moment, so one that node 0 has named stays in any case.
bool others_are_sooner(const Trailer& trailer, std::uint64_t own_ns, const Streams& streams) {
  if (trailer.stays == kNobody || trailer.stays == streams.node) return false;
  if (trailer.together_ns == 0) return false;
  if (own_ns < trailer.fastest_ns * 2) return false;  // the fast workers stay to the end
  return trailer.frames_left * streams.header.strips < own_ns / trailer.together_ns;
}

}  // namespace

Input subscribe_to_frames(const Streams& streams) {
  return streams.frames.subscribe(kFramesAtOnce * streams.frames.size());
}

bool do_work(const Streams& streams, const Input& input, const Work& work, bool guard,
             WorkerTally& tally) {
  const Header& header = streams.header;
  std::uint64_t processing_ns = 0;
  tally.begin();
  while (std::optional<Taken> frame = input.take()) {
    const Part part = part_of(header, frame->tag());
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(frame->data());
    terrane::chunks::NewVersion<std::byte> result = streams.results.write();
    auto* out = reinterpret_cast<std::uint8_t*>(result.elements().data());
    Trailer trailer = trailer_of(*frame);
    const std::uint64_t from = now_ns();
    tally.frame([&] { work.run(header.shape, part.rows, pixels, part.halo.first, out); });
    trailer.processing_ns = now_ns() - from;
    processing_ns += trailer.processing_ns;
    const bool leaves = guard && tally.frames() >= kFramesToKnow &&
                        others_are_sooner(trailer, processing_ns / tally.frames(), streams);
    trailer.leaves = leaves ? 1 : 0;
    const std::size_t count = std::size_t{part.rows.count} * header.shape.width;
    std::memcpy(out + trailer_place(count), &trailer, sizeof trailer);
    result.publish(version_bytes(count), frame->tag());  // before the frame is released
    if (leaves) return false;                            // what was sent here goes to the others
  }
  return true;
}

}  // namespace video
