#include "live/live_sink.h"

namespace video {

Outcome<std::unique_ptr<Sink>> make_live_sink(std::unique_ptr<Sink>, Shape, std::uint32_t,
                                              const Progress&) {
  return Failure{"--live: this program was built without cpp-httplib and libavcodec"};
}

}  // namespace video
