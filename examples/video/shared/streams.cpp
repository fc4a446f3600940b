#include "shared/pipeline.h"

namespace video {
namespace {

// The pixels of the largest part of a frame, halo included.
std::size_t most_pixels(const Header& header) {
  std::size_t most = 0;
  for (std::uint32_t index = 0; index < header.strips; ++index) {
    const Part part = part_of(header, index);
    most = std::max(most, std::size_t{part.halo.count} * header.shape.width);
  }
  return most;
}

std::size_t frame_version(const Header& header) {
  const std::size_t bytes = version_bytes(most_pixels(header));
  return header.strips == 1 ? std::max<std::size_t>(bytes, header.room) : bytes;
}

// Node 0 is the home: the input writes and the output takes there.
terrane::chunks::WorkOptions options(const Header& header, std::size_t bytes, bool in_order) {
  return {.home = 0, .in_order = in_order, .capacity = bytes * header.buffers * header.strips};
}

}  // namespace

Streams::Streams(const Job& job, const Header& told)
    : node(static_cast<std::uint32_t>(job.node())),
      header(told),
      frames(job, "frames", frame_version(told), options(told, frame_version(told), false)),
      results(job, "results", version_bytes(most_pixels(told)),
              options(told, version_bytes(most_pixels(told)), true)) {}

}  // namespace video
