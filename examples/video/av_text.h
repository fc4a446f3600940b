#pragma once

extern "C" {
#include <libavutil/error.h>
}

#include <string>

namespace video {

// What libav's error code means.
inline std::string av_text(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  return av_make_error_string(text, sizeof text, error);
}

}  // namespace video
