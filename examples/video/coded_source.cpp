extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <algorithm>
#include <cstring>
#include <vector>

#include "av_text.h"
#include "source.h"

namespace video {
namespace {

// Decodes the first video stream of a file by libavcodec. A decoder that needs no earlier picture
// (MJPEG, FFV1) writes Y into the caller's buffer; of the others Y is copied once. Pictures without
// a plane of 8-bit Y (RGB, 10 bits) are converted to grey.
class Coded : public Source {
 public:
  explicit Coded(std::string path) : path_(std::move(path)) {}
  ~Coded() override {
    sws_freeContext(scaler_);
    av_frame_free(&picture_);
    av_packet_free(&packet_);
    avcodec_free_context(&decoder_);
    avformat_close_input(&file_);
  }

  Shape shape() const override { return shape_; }
  std::size_t room() const override { return room_; }
  std::uint64_t frames() const override {
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(file_->streams[stream_]->nb_frames, 0));
  }
  const char* way() const override { return way_.c_str(); }

  Outcome<> open() {
    int error = avformat_open_input(&file_, path_.c_str(), nullptr, nullptr);
    if (error < 0) return Failure{"'" + path_ + "' cannot be read: " + av_text(error)};
    error = avformat_find_stream_info(file_, nullptr);
    if (error < 0) return Failure{"'" + path_ + "' is no video: " + av_text(error)};
    const AVCodec* codec = nullptr;
    stream_ = av_find_best_stream(file_, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (stream_ < 0) return Failure{"'" + path_ + "' has no video stream that can be decoded"};
    Outcome<> prepared = prepare_decoder(codec);
    if (!prepared.ok()) return prepared;
    packet_ = av_packet_alloc();
    picture_ = av_frame_alloc();
    return success();
  }

  Outcome<bool> next(std::uint8_t* frame) override {
    destination_ = frame;
    for (;;) {
      const int error = avcodec_receive_frame(decoder_, picture_);
      if (error == 0) return store(frame);
      if (error == AVERROR_EOF) return end();
      if (error != AVERROR(EAGAIN)) return corrupt(error);
      Outcome<> fed = feed();
      if (!fed.ok()) return Failure{fed.sentence()};
    }
  }

 private:
  Outcome<> prepare_decoder(const AVCodec* codec) {
    const AVCodecParameters* parameters = file_->streams[stream_]->codecpar;
    if (parameters->width < 1 || parameters->height < 1 ||
        parameters->width > static_cast<int>(kMostPixelsOfASide) ||
        parameters->height > static_cast<int>(kMostPixelsOfASide)) {
      return Failure{"'" + path_ + "' has pictures of " + std::to_string(parameters->width) +
                     " x " + std::to_string(parameters->height) + "; 1 to 16384 are possible"};
    }
    decoder_ = avcodec_alloc_context3(codec);
    avcodec_parameters_to_context(decoder_, parameters);
    decoder_->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
    decoder_->thread_count = 1;
    shape_ = {static_cast<std::uint32_t>(parameters->width),
              static_cast<std::uint32_t>(parameters->height)};
    room_ = shape_.bytes();
    choose_way(codec);
    const int error = avcodec_open2(decoder_, codec, nullptr);
    if (error < 0) return Failure{"'" + path_ + "' cannot be decoded: " + av_text(error)};
    return success();
  }

  void choose_way(const AVCodec* codec) {
    const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(decoder_->pix_fmt);
    has_grey_plane_ =
        format != nullptr && format->comp[0].depth == 8 && format->comp[0].plane == 0 &&
        format->comp[0].step == 1 && format->comp[0].offset == 0 &&
        (format->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL)) ==
            0;
    if (!has_grey_plane_) {
      way_ =
          std::string("converted from ") + (format == nullptr ? "an unknown format" : format->name);
      return;
    }
    const AVCodecDescriptor* properties = avcodec_descriptor_get(codec->id);
    // FFV1 looks at the picture before only where this one is damaged, which ends the program.
    const bool alone =
        codec->id == AV_CODEC_ID_FFV1 ||
        (properties != nullptr && (properties->props & AV_CODEC_PROP_INTRA_ONLY) != 0);
    int width = decoder_->width, height = decoder_->height;
    int align[AV_NUM_DATA_POINTERS] = {};
    avcodec_align_dimensions2(decoder_, &width, &height, align);
    // The rows of a frame have no padding between them, so the decoder's rows must need none.
    if (!alone || (codec->capabilities & AV_CODEC_CAP_DR1) == 0 || width != decoder_->width ||
        width % align[0] != 0 || width % 64 != 0) {
      way_ = alone ? "one copy of Y (the width is no multiple of 64)"
                   : "one copy of Y (the decoder keeps the picture)";
      return;
    }
    room_ = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) + 64;
    colours_.resize(2 * room_ + 128);
    decoder_->opaque = this;
    decoder_->get_buffer2 = &Coded::give_buffer;
    way_ = "decoded in place";
  }

  // Y goes to the frame, the colours to memory that nobody reads.
  static int give_buffer(AVCodecContext* context, AVFrame* picture, int flags) {
    Coded& source = *static_cast<Coded*>(context->opaque);
    const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(context->pix_fmt);
    if (context->width != static_cast<int>(source.shape_.width) ||
        context->height != static_cast<int>(source.shape_.height) || format->nb_components == 2 ||
        format->nb_components == 4) {
      return avcodec_default_get_buffer2(context, picture, flags);
    }
    const auto keep = [](void*, std::uint8_t*) {};
    auto* colour = source.colours_.data();
    colour += (64 - reinterpret_cast<std::uintptr_t>(colour) % 64) % 64;
    for (int plane = 0; plane < (format->nb_components == 1 ? 1 : 3); ++plane) {
      picture->data[plane] =
          plane == 0 ? source.destination_ : colour + (plane - 1) * source.room_ / 64 * 64;
      picture->linesize[plane] = context->width;
      picture->buf[plane] = av_buffer_create(picture->data[plane], source.room_, keep, nullptr, 0);
      if (picture->buf[plane] == nullptr) return AVERROR(ENOMEM);
    }
    picture->extended_data = picture->data;
    return 0;
  }

  Outcome<bool> store(std::uint8_t* frame) {
    if (picture_->decode_error_flags != 0 || (picture_->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
      return corrupt(AVERROR_INVALIDDATA);
    }
    if (picture_->width != static_cast<int>(shape_.width) ||
        picture_->height != static_cast<int>(shape_.height)) {
      return Failure{"'" + path_ + "' changes its size at picture " + std::to_string(number_)};
    }
    ++number_;
    if (!has_grey_plane_ && !convert(frame)) {
      return Failure{"'" + path_ + "' cannot be converted to grey"};
    }
    if (has_grey_plane_ && picture_->data[0] != frame) {
      for (std::uint32_t y = 0; y < shape_.height; ++y) {
        std::memcpy(frame + std::size_t{y} * shape_.width,
                    picture_->data[0] + static_cast<std::ptrdiff_t>(y) * picture_->linesize[0],
                    shape_.width);
      }
    }
    av_frame_unref(picture_);
    return true;
  }

  bool convert(std::uint8_t* frame) {
    const int width = picture_->width, height = picture_->height;
    scaler_ =
        sws_getCachedContext(scaler_, width, height, static_cast<AVPixelFormat>(picture_->format),
                             width, height, AV_PIX_FMT_GRAY8, SWS_POINT, nullptr, nullptr, nullptr);
    std::uint8_t* const planes[4] = {frame};
    const int row_bytes[4] = {width};
    return scaler_ != nullptr && sws_scale(scaler_, picture_->data, picture_->linesize, 0, height,
                                           planes, row_bytes) == height;
  }

  Outcome<> feed() {
    for (;;) {
      const int error = av_read_frame(file_, packet_);
      if (error == AVERROR_EOF) {
        avcodec_send_packet(decoder_, nullptr);
        return success();
      }
      if (error < 0) return corrupt(error);
      const bool ours = packet_->stream_index == stream_;
      const bool whole = (packet_->flags & AV_PKT_FLAG_CORRUPT) == 0;
      const int sent = ours && whole ? avcodec_send_packet(decoder_, packet_) : 0;
      av_packet_unref(packet_);
      if (ours && !whole) return corrupt(AVERROR_INVALIDDATA);
      if (sent < 0) return corrupt(sent);
      if (ours) return success();
    }
  }

  Outcome<bool> end() const {
    const std::uint64_t promised = frames();
    if (number_ == 0) return Failure{"'" + path_ + "' has no picture"};
    if (file_->pb != nullptr && file_->pb->error < 0) return corrupt(file_->pb->error);
    if (number_ < promised) {
      return Failure{"'" + path_ + "' is truncated: it has " + std::to_string(number_) + " of " +
                     std::to_string(promised) + " pictures"};
    }
    return false;
  }

  Failure corrupt(int error) const {
    return Failure{"'" + path_ + "' is corrupt or truncated in picture " + std::to_string(number_) +
                   ": " + av_text(error)};
  }

  std::string path_, way_;
  AVFormatContext* file_ = nullptr;
  AVCodecContext* decoder_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* picture_ = nullptr;
  SwsContext* scaler_ = nullptr;
  int stream_ = -1;
  Shape shape_;
  std::size_t room_ = 0;
  bool has_grey_plane_ = false;
  std::vector<std::uint8_t> colours_;
  std::uint8_t* destination_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace

Outcome<std::unique_ptr<Source>> open_coded(const std::string& path) {
  av_log_set_level(AV_LOG_QUIET);  // the sentences are ours
  auto source = std::make_unique<Coded>(path);
  Outcome<> opened = source->open();
  if (!opened.ok()) return Failure{opened.sentence()};
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace video
