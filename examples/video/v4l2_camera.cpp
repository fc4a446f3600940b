#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "camera.h"

namespace video {
namespace {

constexpr std::uint32_t kBuffers = 4;
constexpr int kPatienceMs = 5000;

int control(int device, unsigned long request, void* argument) {
  int result = 0;
  do {
    result = ::ioctl(device, request, argument);
  } while (result < 0 && errno == EINTR);
  return result;
}

struct Mapping {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
};

class V4l2Camera : public Camera {
 public:
  V4l2Camera(std::string name, int device) : name_(std::move(name)), device_(device) {}
  ~V4l2Camera() override {
    for (const Mapping& mapping : mappings_) ::munmap(mapping.data, mapping.bytes);
    ::close(device_);
  }

  Shape shape() const override { return shape_; }

  Outcome<> start() {
    v4l2_capability capability{};
    if (control(device_, VIDIOC_QUERYCAP, &capability) < 0) {
      return Failure{"'" + name_ + "' is no camera: it does not answer VIDIOC_QUERYCAP"};
    }
    const std::uint32_t can = (capability.capabilities & V4L2_CAP_DEVICE_CAPS) != 0
                                  ? capability.device_caps
                                  : capability.capabilities;
    if ((can & V4L2_CAP_VIDEO_CAPTURE) == 0 || (can & V4L2_CAP_STREAMING) == 0) {
      return Failure{"'" + name_ + "' is no camera that streams; name another /dev/video*"};
    }
    Outcome<> formed = choose_format();
    if (!formed.ok()) return formed;
    return map_buffers();
  }

  Outcome<Picture> grab() override {
    if (held_ >= 0) queue(static_cast<std::uint32_t>(held_));
    held_ = -1;
    pollfd ready{device_, POLLIN, 0};
    if (::poll(&ready, 1, kPatienceMs) <= 0) {
      return Failure{"the camera '" + name_ + "' has given no picture for 5 seconds"};
    }
    v4l2_buffer buffer{};
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = V4L2_MEMORY_MMAP;
    if (control(device_, VIDIOC_DQBUF, &buffer) < 0) return failed("gives no picture");
    held_ = static_cast<int>(buffer.index);
    return Picture{mappings_[buffer.index].data, row_bytes_, step_};
  }

 private:
  Failure failed(const char* what) const {
    return Failure{"the camera '" + name_ + "' " + what + ": " + std::strerror(errno)};
  }

  Outcome<> choose_format() {
    for (std::uint32_t wanted :
         {V4L2_PIX_FMT_GREY, V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_NV12, V4L2_PIX_FMT_YUV420}) {
      v4l2_format format{};
      format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
      if (control(device_, VIDIOC_G_FMT, &format) < 0) return failed("has no format");
      format.fmt.pix.pixelformat = wanted;
      if (control(device_, VIDIOC_S_FMT, &format) < 0) continue;
      if (format.fmt.pix.pixelformat != wanted) continue;
      shape_ = {format.fmt.pix.width, format.fmt.pix.height};
      step_ = wanted == V4L2_PIX_FMT_YUYV ? 2 : 1;
      row_bytes_ =
          format.fmt.pix.bytesperline != 0 ? format.fmt.pix.bytesperline : shape_.width * step_;
      return success();
    }
    return Failure{"the camera '" + name_ + "' has none of the formats GREY, YUYV, NV12, YU12"};
  }

  Outcome<> map_buffers() {
    v4l2_requestbuffers request{};
    request.count = kBuffers;
    request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    request.memory = V4L2_MEMORY_MMAP;
    if (control(device_, VIDIOC_REQBUFS, &request) < 0) return failed("has no buffers");
    for (std::uint32_t index = 0; index < request.count; ++index) {
      v4l2_buffer buffer{};
      buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
      buffer.memory = V4L2_MEMORY_MMAP;
      buffer.index = index;
      if (control(device_, VIDIOC_QUERYBUF, &buffer) < 0) return failed("lacks a buffer");
      void* data = ::mmap(nullptr, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, device_,
                          static_cast<off_t>(buffer.m.offset));
      if (data == MAP_FAILED) return failed("maps no buffer");
      mappings_.push_back({static_cast<std::uint8_t*>(data), buffer.length});
      if (row_bytes_ * shape_.height > buffer.length) {
        return Failure{"the camera '" + name_ + "' has buffers smaller than its pictures"};
      }
      queue(index);
    }
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (control(device_, VIDIOC_STREAMON, &type) < 0) return failed("does not start");
    return success();
  }

  void queue(std::uint32_t index) {
    v4l2_buffer buffer{};
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = V4L2_MEMORY_MMAP;
    buffer.index = index;
    control(device_, VIDIOC_QBUF, &buffer);
  }

  std::string name_;
  int device_;
  Shape shape_;
  std::size_t row_bytes_ = 0, step_ = 1;
  std::vector<Mapping> mappings_;
  int held_ = -1;
};

}  // namespace

Outcome<std::unique_ptr<Camera>> open_camera(const std::string& device) {
  const int descriptor = ::open(device.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    return Failure{"the camera '" + device + "' cannot be opened: " + std::strerror(errno) +
                   "; ls /dev/video* lists the cameras"};
  }
  auto camera = std::make_unique<V4l2Camera>(device, descriptor);
  Outcome<> started = camera->start();
  if (!started.ok()) return Failure{started.sentence()};
  return std::unique_ptr<Camera>(std::move(camera));
}

}  // namespace video
