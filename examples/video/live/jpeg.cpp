extern "C" {
#include <libavcodec/avcodec.h>
}

#include <cstring>

#include "av_text.h"
#include "live/jpeg.h"

namespace video {
namespace {

constexpr int kQuality = 5;  // of 1 (best) to 31

class Writer : public JpegWriter {
 public:
  explicit Writer(Shape shape, std::uint32_t factor) : shape_(shape), factor_(factor) {}
  ~Writer() override {
    av_packet_free(&packet_);
    av_frame_free(&picture_);
    avcodec_free_context(&codec_);
  }

  Outcome<> open() {
    const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
    if (codec == nullptr) return Failure{"libavcodec has no encoder for JPEG"};
    codec_ = avcodec_alloc_context3(codec);
    codec_->width = static_cast<int>((shape_.width + factor_ - 1) / factor_);
    codec_->height = static_cast<int>((shape_.height + factor_ - 1) / factor_);
    codec_->pix_fmt = AV_PIX_FMT_YUVJ420P;
    codec_->time_base = {1, 25};
    codec_->flags |= AV_CODEC_FLAG_QSCALE;
    codec_->global_quality = kQuality * FF_QP2LAMBDA;
    codec_->thread_count = 1;
    int error = avcodec_open2(codec_, codec, nullptr);
    if (error >= 0) error = make_picture();
    if (error < 0) return Failure{"the encoder for JPEG does not start: " + av_text(error)};
    packet_ = av_packet_alloc();
    return success();
  }

  std::string write(const std::uint8_t* frame) override {
    if (av_frame_make_writable(picture_) < 0) return {};
    for (int y = 0; y < codec_->height; ++y) {
      const std::uint8_t* from =
          frame + std::size_t{shape_.width} * static_cast<std::size_t>(y) * factor_;
      std::uint8_t* to = picture_->data[0] + static_cast<std::ptrdiff_t>(y) * picture_->linesize[0];
      for (int x = 0; x < codec_->width; ++x) to[x] = from[static_cast<std::size_t>(x) * factor_];
    }
    picture_->pts = number_++;
    picture_->quality = kQuality * FF_QP2LAMBDA;
    if (avcodec_send_frame(codec_, picture_) < 0) return {};
    if (avcodec_receive_packet(codec_, packet_) < 0) return {};
    std::string file(reinterpret_cast<const char*>(packet_->data),
                     static_cast<std::size_t>(packet_->size));
    av_packet_unref(packet_);
    return file;
  }

 private:
  int make_picture() {
    picture_ = av_frame_alloc();
    picture_->format = codec_->pix_fmt;
    picture_->width = codec_->width;
    picture_->height = codec_->height;
    const int error = av_frame_get_buffer(picture_, 0);
    if (error < 0) return error;
    const int half_rows = (codec_->height + 1) / 2;
    for (int plane = 1; plane < 3; ++plane) {
      std::memset(picture_->data[plane], 128,
                  static_cast<std::size_t>(picture_->linesize[plane] * half_rows));
    }
    return 0;
  }

  Shape shape_;
  std::uint32_t factor_;
  AVCodecContext* codec_ = nullptr;
  AVFrame* picture_ = nullptr;
  AVPacket* packet_ = nullptr;
  std::int64_t number_ = 0;
};

}  // namespace

Outcome<std::unique_ptr<JpegWriter>> make_jpeg_writer(Shape shape, std::uint32_t most_width) {
  auto writer = std::make_unique<Writer>(shape, (shape.width + most_width - 1) / most_width);
  Outcome<> opened = writer->open();
  if (!opened.ok()) return Failure{opened.sentence()};
  return std::unique_ptr<JpegWriter>(std::move(writer));
}

}  // namespace video
