extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cerrno>
#include <cstring>

#include "av_text.h"
#include "sink.h"

namespace video {
namespace {

constexpr int kFramesPerSecond = 25;
constexpr int kQuality = 4;  // of 1 (best) to 31, for codecs that have it

// Encodes grey pictures with the codec that libavformat prefers for the file's ending.
class Encoder : public Sink {
 public:
  Encoder(std::string path, Shape shape) : path_(std::move(path)), shape_(shape) {}
  ~Encoder() override {
    av_frame_free(&picture_);
    av_packet_free(&packet_);
    avcodec_free_context(&codec_);
    if (file_ != nullptr && file_->pb != nullptr) avio_closep(&file_->pb);
    avformat_free_context(file_);
  }

  Outcome<> open() {
    avformat_alloc_output_context2(&file_, nullptr, nullptr, path_.c_str());
    if (file_ == nullptr) {
      return Failure{"'" + path_ + "': no container has this ending; " + "give .mkv, .avi or .mp4"};
    }
    const AVCodec* codec = choose_codec();
    if (codec == nullptr) return Failure{"'" + path_ + "': no encoder for this container"};
    Outcome<> prepared = prepare(codec);
    if (!prepared.ok()) return prepared;
    int error = avio_open(&file_->pb, path_.c_str(), AVIO_FLAG_WRITE);
    if (error < 0) return Failure{"'" + path_ + "' could not be made: " + av_text(error)};
    error = avformat_write_header(file_, nullptr);
    if (error < 0) return failed(error);
    packet_ = av_packet_alloc();
    return make_picture();
  }

  Outcome<> put(const std::uint8_t* frame) override {
    const int writable = av_frame_make_writable(picture_);
    if (writable < 0) return failed(writable);
    for (std::uint32_t y = 0; y < shape_.height; ++y) {
      std::memcpy(picture_->data[0] + static_cast<std::ptrdiff_t>(y) * picture_->linesize[0],
                  frame + std::size_t{y} * shape_.width, shape_.width);
    }
    picture_->pts = number_++;
    picture_->quality = kQuality * FF_QP2LAMBDA;
    return encode(picture_);
  }

  Outcome<> close() override {
    Outcome<> flushed = encode(nullptr);
    if (!flushed.ok()) return flushed;
    int error = av_write_trailer(file_);
    if (error >= 0) error = avio_closep(&file_->pb);
    return error < 0 ? Outcome<>(failed(error)) : success();
  }

 private:
  // FFV1 in Matroska keeps every bit; elsewhere the container's own choice.
  const AVCodec* choose_codec() const {
    if (std::strcmp(file_->oformat->name, "matroska") == 0) {
      return avcodec_find_encoder(AV_CODEC_ID_FFV1);
    }
    return avcodec_find_encoder(file_->oformat->video_codec);
  }

  Outcome<> prepare(const AVCodec* codec) {
    AVStream* stream = avformat_new_stream(file_, nullptr);
    codec_ = avcodec_alloc_context3(codec);
    codec_->width = static_cast<int>(shape_.width);
    codec_->height = static_cast<int>(shape_.height);
    codec_->time_base = {1, kFramesPerSecond};
    codec_->framerate = {kFramesPerSecond, 1};
    codec_->flags |= AV_CODEC_FLAG_QSCALE;
    codec_->global_quality = kQuality * FF_QP2LAMBDA;
    codec_->thread_count = 1;
    codec_->pix_fmt = codec->id == AV_CODEC_ID_FFV1    ? AV_PIX_FMT_GRAY8
                      : codec->id == AV_CODEC_ID_MJPEG ? AV_PIX_FMT_YUVJ420P
                                                       : AV_PIX_FMT_YUV420P;
    if (codec->id == AV_CODEC_ID_FFV1) codec_->level = 3;
    if ((file_->oformat->flags & AVFMT_GLOBALHEADER) != 0) {
      codec_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    }
    const int error = avcodec_open2(codec_, codec, nullptr);
    if (error < 0) {
      return Failure{"'" + path_ + "': the encoder " + codec->name + " refuses pictures of " +
                     std::to_string(shape_.width) + " x " + std::to_string(shape_.height) + ": " +
                     av_text(error) + "; give an even size, or .mkv"};
    }
    stream->time_base = codec_->time_base;
    avcodec_parameters_from_context(stream->codecpar, codec_);
    return success();
  }

  Outcome<> make_picture() {
    picture_ = av_frame_alloc();
    picture_->format = codec_->pix_fmt;
    picture_->width = codec_->width;
    picture_->height = codec_->height;
    const int error = av_frame_get_buffer(picture_, 0);
    if (error < 0) return failed(error);
    const int half_rows = (codec_->height + 1) / 2;
    for (int plane = 1; plane < 3 && picture_->data[plane] != nullptr; ++plane) {
      const auto bytes = static_cast<std::size_t>(picture_->linesize[plane] * half_rows);
      std::memset(picture_->data[plane], 128, bytes);
    }
    return success();
  }

  Outcome<> encode(AVFrame* picture) {
    int error = avcodec_send_frame(codec_, picture);
    while (error >= 0) {
      error = avcodec_receive_packet(codec_, packet_);
      if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return success();
      if (error < 0) break;
      packet_->duration = 1;  // else the last picture has none, and players leave it out
      av_packet_rescale_ts(packet_, codec_->time_base, file_->streams[0]->time_base);
      error = av_interleaved_write_frame(file_, packet_);
    }
    return failed(error);
  }

  Failure failed(int error) const {
    return Failure{"'" + path_ + "' could not be written: " + av_text(error)};
  }

  std::string path_;
  Shape shape_;
  AVFormatContext* file_ = nullptr;
  AVCodecContext* codec_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* picture_ = nullptr;
  std::int64_t number_ = 0;
};

}  // namespace

Outcome<std::unique_ptr<Sink>> open_encoder(const std::string& path, Shape shape) {
  av_log_set_level(AV_LOG_QUIET);
  auto sink = std::make_unique<Encoder>(path, shape);
  Outcome<> opened = sink->open();
  if (!opened.ok()) return Failure{opened.sentence()};
  return std::unique_ptr<Sink>(std::move(sink));
}

}  // namespace video
