#pragma once

#include <memory>

#include "shared/progress.h"
#include "sink.h"

namespace video {

// Shows what is put at http://localhost:PORT/, and puts it in `next`: the pictures as MJPEG
// (/stream) and the state of the run as JSON (/state). A viewer that is slow sees fewer pictures;
// one that stops reading is disconnected. Neither delays the pipeline, and at most one picture is
// kept. `progress` must live longer. Fails by name where the port is in use.
Outcome<std::unique_ptr<Sink>> make_live_sink(std::unique_ptr<Sink> next, Shape shape,
                                              std::uint32_t port, const Progress& progress);

}  // namespace video
