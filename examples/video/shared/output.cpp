#include <cstring>
#include <set>

#include "frame_memory.h"
#include "shared/pipeline.h"

namespace video {

namespace {

using Taken = terrane::chunks::TakenVersion<std::byte>;

// The next result; none: all are done. `gone` are the nodes that take no more frames. Fails when no
// worker is left.
Outcome<std::optional<Taken>> next_result(const Input& results, int workers,
                                          std::set<std::uint32_t>& gone) {
  constexpr std::chrono::milliseconds kBetweenLooks(200);
  for (;;) {
    bool ended = false;
    std::optional<Taken> result = results.take_for(kBetweenLooks, ended);
    if (result || ended) return result;
    while (auto change = terrane::chunks::next_member_change(std::chrono::nanoseconds(0))) {
      if (change->event == TERRANE_MEMBER_DIED) gone.insert(change->node);
      if (workers > 0 && gone.size() >= static_cast<std::size_t>(workers)) {
        return Failure{"no worker is left: the last one was node " + std::to_string(change->node) +
                       " on host " + change->host};
      }
    }
  }
}

}  // namespace

Outcome<> take_results(const Streams& streams, SummedSink& sink, Progress& progress, int workers) {
  const Header& header = streams.header;
  const auto results = streams.results.subscribe(std::uint64_t{header.buffers} * header.strips *
                                                 streams.results.size());
  FrameBuffer whole;
  if (header.strips > 1) whole = make_frame(header.shape.bytes());
  Outcome<> outcome = success();
  std::set<std::uint32_t> gone;
  for (;;) {
    Outcome<std::optional<Taken>> next = next_result(results, workers, gone);
    if (!next.ok()) return Failure{next.sentence()};
    const std::optional<Taken>& result = next.value();
    if (!result) break;
    const Rows rows = part_of(header, result->tag()).rows;
    Trailer trailer;
    std::memcpy(&trailer, result->data() + result->size() - sizeof trailer, sizeof trailer);
    progress.note(result->writer(), trailer.processing_ns);
    if (trailer.leaves != 0) gone.insert(result->writer());
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(result->data());
    if (header.strips > 1) {
      std::memcpy(whole.get() + std::size_t{rows.first} * header.shape.width, pixels,
                  std::size_t{rows.count} * header.shape.width);
      pixels = whole.get();
      if (result->tag() % header.strips + 1 != header.strips) continue;
    }
    if (outcome.ok()) outcome = sink.put(pixels);
    if (!outcome.ok()) {
      streams.frames.end();  // the input stops, and the workers with it
    }
    progress.written(now_ns() - trailer.read_ns);
  }
  return outcome.ok() ? sink.close() : outcome;
}

}  // namespace video
