#pragma once

#include <algorithm>
#include <cstddef>
#include <terrane/chunks.hpp>

#include "frame_giver.h"
#include "measure.h"
#include "options.h"
#include "shared/progress.h"
#include "sink.h"

// The video on work streams: "frames" carries pictures from the input to the workers, "results" the
// edges from the workers to the output, in order. Both streams have their home at node 0, so a
// frame crosses the network once to its worker and once back.
namespace video {

using terrane::chunks::Job;
using Bytes = terrane::chunks::Work<std::byte>;

// What node 0 tells the workers before the work.
struct Header {
  Shape shape;
  std::uint32_t strips = 1;
  std::uint32_t buffers = 0;  // frames that may be read and not yet written
  std::uint64_t room = 0;     // bytes of a version of "frames"
  std::int32_t failed = 0;    // the exit status where there is no work
};

constexpr std::uint32_t kNobody = UINT32_MAX;

// The bytes behind the pixels of a version of "frames" and of "results".
struct Trailer {
  std::uint64_t read_ns = 0;        // when the frame was read, by the clock of node 0
  std::uint64_t processing_ns = 0;  // of a result: how long the kernel ran
  // Of a frame, for the guard of the tail: frames still to be given after this one (UINT64_MAX: the
  // source does not know), and the time that a part takes all workers together and the fastest one
  // (0: not known yet).
  std::uint64_t frames_left = UINT64_MAX;
  std::uint64_t together_ns = 0, fastest_ns = 0;
  std::uint32_t stays = kNobody;  // of a frame: the node that works to the end; kNobody: all do yet
  std::uint32_t leaves = 0;       // of a result: 1: its worker takes no more frames
};

// The strip of a tag: tags count strips of all frames.
struct Part {
  Rows rows, halo;
};
inline Part part_of(const Header& header, std::uint64_t tag) {
  const auto index = static_cast<std::uint32_t>(tag % header.strips);
  const Rows rows = strip(header.shape.height, header.strips, index);
  return {rows, header.strips == 1 ? rows : with_halo(header.shape.height, rows)};
}

// The place of the trailer after so many pixels, and the length of the version.
inline std::size_t trailer_place(std::size_t pixels) { return (pixels + 7) / 8 * 8; }
inline std::size_t version_bytes(std::size_t pixels) {
  return trailer_place(pixels) + sizeof(Trailer);
}

// The two streams, as each node sees them.
struct Streams {
  Streams(const Job& job, const Header& header);
  std::uint32_t node;  // this one
  Header header;
  Bytes frames, results;
};

// Node 0: reads all frames, until the source or the stream ends; then ends the stream.
Outcome<> give_frames(const Streams& streams, FrameGiver& giver, Progress& progress,
                      std::uint64_t total);
// Node 0: writes all results in order. Fails when all of so many workers (0: threads) have died, or
// have left before the others died.
Outcome<> take_results(const Streams& streams, SummedSink& sink, Progress& progress, int workers);

using Input = terrane::chunks::WorkSubscription<std::byte>;
Input subscribe_to_frames(const Streams& streams);
// A worker, until all frames are done (true), or with `guard` until the faster workers finish the
// rest sooner.
bool do_work(const Streams& streams, const Input& input, const Work& work, bool guard,
             WorkerTally& tally);

}  // namespace video
