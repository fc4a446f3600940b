#include "sink.h"
#include "source.h"

namespace video {

Outcome<std::unique_ptr<Source>> open_coded(const std::string& path) {
  return Failure{"'" + path + "' is no Y4M file, and this program was built without libavformat"};
}

Outcome<std::unique_ptr<Sink>> open_encoder(const std::string& path, Shape) {
  return Failure{"'" + path +
                 "' is no .y4m or .gray file, and this program was built without libavformat"};
}

}  // namespace video
