#include <cstring>

#include "frame_memory.h"
#include "shared/pipeline.h"

namespace video {
namespace {

std::uint8_t* pixels(const terrane::chunks::NewVersion<std::byte>& version) {
  return reinterpret_cast<std::uint8_t*>(version.elements().data());
}

void publish(terrane::chunks::NewVersion<std::byte>& version, std::size_t count,
             const Trailer& trailer, std::uint64_t tag) {
  std::memcpy(pixels(version) + trailer_place(count), &trailer, sizeof trailer);
  version.publish(version_bytes(count), tag);
}

Trailer trailer_of(std::uint64_t number, std::uint64_t total, Progress& progress) {
  Trailer trailer;
  trailer.read_ns = now_ns();
  if (total != 0) trailer.frames_left = total > number ? total - number - 1 : 0;
  trailer.together_ns = progress.together_ns();
  trailer.fastest_ns = progress.fastest_ns();
  // In the second half, when the times are known.
  if (trailer.frames_left <= number) trailer.stays = progress.staying().value_or(kNobody);
  return trailer;
}

// The decoder writes the frame into the version that the worker takes.
void give_whole(const Streams& streams, FrameGiver& giver, Progress& progress,
                std::uint64_t total) {
  const std::size_t count = streams.header.shape.bytes();
  for (std::uint64_t number = 0;; ++number) {
    terrane::chunks::NewVersion<std::byte> version = streams.frames.write();
    if (!giver.next(pixels(version))) return;
    progress.read_one();
    publish(version, count, trailer_of(number, total, progress), number);
  }
}

// The strips of a frame are versions of their own, each with its halo; they are copied.
void give_strips(const Streams& streams, FrameGiver& giver, Progress& progress,
                 std::uint64_t total) {
  const Header& header = streams.header;
  const FrameBuffer frame = make_frame(giver.room());
  for (std::uint64_t number = 0; giver.next(frame.get()); ++number) {
    progress.read_one();
    const Trailer trailer = trailer_of(number, total, progress);
    for (std::uint32_t index = 0; index < header.strips; ++index) {
      const std::uint64_t tag = number * header.strips + index;
      const Rows halo = part_of(header, tag).halo;
      const std::size_t count = std::size_t{halo.count} * header.shape.width;
      terrane::chunks::NewVersion<std::byte> version = streams.frames.write();
      std::memcpy(pixels(version), frame.get() + std::size_t{halo.first} * header.shape.width,
                  count);
      publish(version, count, trailer, tag);
    }
  }
}

}  // namespace

Outcome<> give_frames(const Streams& streams, FrameGiver& giver, Progress& progress,
                      std::uint64_t total) {
  if (streams.header.strips == 1) {
    give_whole(streams, giver, progress, total);
  } else {
    give_strips(streams, giver, progress, total);
  }
  streams.frames.end();
  return giver.outcome();
}

}  // namespace video
