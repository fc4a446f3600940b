#include "source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "frame_memory.h"
#include "in_order.h"
#include "shared/progress.h"
#include "sink.h"

namespace video {
namespace {

// A folder that is removed at the end.
class VideoFilesTest : public ::testing::Test {
 protected:
  VideoFilesTest() : folder_("/tmp/video_test." + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~VideoFilesTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // All pictures of an input, one after the other; empty where it fails.
  std::vector<std::uint8_t> read_all(const std::string& input) {
    Outcome<std::unique_ptr<Source>> opened = open_source(input);
    if (!opened.ok()) return sentence_ = opened.sentence(), std::vector<std::uint8_t>{};
    Source& source = *opened.value();
    way_ = source.way();
    shape_ = source.shape();
    const FrameBuffer frame = make_frame(source.room());
    std::vector<std::uint8_t> all;
    for (;;) {
      Outcome<bool> more = source.next(frame.get());
      if (!more.ok()) return sentence_ = more.sentence(), std::vector<std::uint8_t>{};
      if (!more.value()) return all;
      all.insert(all.end(), frame.get(), frame.get() + shape_.bytes());
    }
  }
  // Writes the pictures of an input to a file by a sink.
  void write(const std::string& input, const std::string& file) {
    const std::vector<std::uint8_t> all = read_all(input);
    Outcome<std::unique_ptr<Sink>> sink = open_sink(file, shape_);
    ASSERT_TRUE(sink.ok()) << sink.sentence();
    for (std::size_t at = 0; at < all.size(); at += shape_.bytes()) {
      Outcome<> put = sink.value()->put(all.data() + at);
      ASSERT_TRUE(put.ok()) << put.sentence();
    }
    ASSERT_TRUE(sink.value()->close().ok());
  }
  std::string read_file(const std::string& file) const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write_file(const std::string& file, const std::string& bytes) const {
    std::ofstream(file, std::ios::binary) << bytes;
  }

  std::string folder_, way_, sentence_;
  Shape shape_;
};

// Files that libavformat reads and writes, where examples/video is built with it.
class CodedVideoFilesTest : public VideoFilesTest {
 protected:
  void SetUp() override {
    if (!VIDEO_HAS_LIBAV)
      GTEST_SKIP() << "built without libavformat (Debian: libavformat-dev libavcodec-dev "
                      "libswscale-dev)";
  }
};

TEST_F(VideoFilesTest, Y4mKeepsEveryBitOfAnySize) {
  for (const char* size : {"721x481:3", "64x48:2", "1x1:4"}) {
    const std::string input = std::string("synthetic:") + size;
    write(input, path("a.y4m"));
    EXPECT_EQ(read_all(path("a.y4m")), read_all(input)) << size;
  }
}

TEST_F(CodedVideoFilesTest, LosslessVideoIsDecodedInPlaceAndKeepsEveryBit) {
  write("synthetic:640x480:5", path("a.mkv"));
  EXPECT_EQ(read_all(path("a.mkv")), read_all("synthetic:640x480:5")) << sentence_;
  read_all(path("a.mkv"));
  EXPECT_EQ(way_, "decoded in place");
}

TEST_F(CodedVideoFilesTest, WidthsThatTheDecoderPadsAreCopiedAndKeepEveryBit) {
  write("synthetic:721x481:5", path("a.mkv"));
  EXPECT_EQ(read_all(path("a.mkv")), read_all("synthetic:721x481:5")) << sentence_;
  read_all(path("a.mkv"));
  EXPECT_EQ(way_, "one copy of Y (the width is no multiple of 64)");
}

TEST_F(CodedVideoFilesTest, MotionJpegIsDecodedInPlaceAndInterCodecsAreCopied) {
  write("synthetic:640x472:5", path("a.mjpeg"));
  EXPECT_EQ(read_all(path("a.mjpeg")).size(), 5 * 640 * 472u) << sentence_;
  EXPECT_EQ(way_, "decoded in place");
  write("synthetic:640x472:5", path("a.mp4"));
  EXPECT_EQ(read_all(path("a.mp4")).size(), 5 * 640 * 472u) << sentence_;
  EXPECT_EQ(way_, "one copy of Y (the decoder keeps the picture)");
}

TEST_F(VideoFilesTest, ATruncatedFileIsNamedWithThePicture) {
  write("synthetic:64x48:3", path("a.y4m"));
  const std::string whole = read_file(path("a.y4m"));
  write_file(path("b.y4m"), whole.substr(0, whole.size() - 7));
  EXPECT_TRUE(read_all(path("b.y4m")).empty());
  EXPECT_NE(sentence_.find("truncated in picture 2"), std::string::npos) << sentence_;
}

TEST_F(CodedVideoFilesTest, ACorruptFileIsNamedWithThePicture) {
  write("synthetic:640x480:5", path("a.mkv"));
  std::string damaged = read_file(path("a.mkv"));
  ASSERT_GT(damaged.size(), 4000u);
  for (std::size_t at = damaged.size() / 2; at < damaged.size() / 2 + 2000; ++at) damaged[at] ^= 77;
  write_file(path("b.mkv"), damaged);
  EXPECT_TRUE(read_all(path("b.mkv")).empty());
  EXPECT_NE(sentence_.find("corrupt or truncated in picture"), std::string::npos) << sentence_;
}

TEST_F(VideoFilesTest, DeepOrStrangeY4mIsRefusedByName) {
  write_file(path("a.y4m"), "YUV4MPEG2 W4 H4 F25:1 C420p10\nFRAME\n");
  EXPECT_TRUE(read_all(path("a.y4m")).empty());
  EXPECT_NE(sentence_.find("420p10"), std::string::npos) << sentence_;
  write_file(path("a.y4m"), "YUV4MPEG2 W0 H4 F25:1\nFRAME\n");
  EXPECT_TRUE(read_all(path("a.y4m")).empty());
  EXPECT_NE(sentence_.find("W0"), std::string::npos) << sentence_;
}

TEST_F(VideoFilesTest, ACameraThatIsMissingOrNoneIsNamed) {
  EXPECT_TRUE(read_all("/dev/video99").empty());
  EXPECT_NE(sentence_.find("/dev/video99"), std::string::npos);
  EXPECT_TRUE(read_all("/dev/null").empty());
  EXPECT_NE(sentence_.find("no camera"), std::string::npos) << sentence_;
}

TEST_F(VideoFilesTest, TheFakeCameraGivesItsGreyValues) {
  const std::vector<std::uint8_t> all = read_all("fake-camera:33x3:2");
  ASSERT_EQ(all.size(), 2 * 33 * 3u);
  EXPECT_EQ(all[0], 0);
  EXPECT_EQ(all[32], 50);
  EXPECT_EQ(all[33 * 3 + 28], 50);  // 4 pixels to the left in the next picture
}

TEST(VideoInOrderTest, PicturesLeaveInOrderAndOnce) {
  InOrder<int> order;
  EXPECT_TRUE(order.add(2, 20));
  EXPECT_FALSE(order.next().has_value());
  EXPECT_TRUE(order.add(0, 0));
  EXPECT_FALSE(order.add(2, 21));
  EXPECT_EQ(order.next(), 0);
  EXPECT_FALSE(order.next().has_value());
  EXPECT_FALSE(order.add(0, 5));
  EXPECT_TRUE(order.add(1, 10));
  EXPECT_EQ(order.next(), 10);
  EXPECT_EQ(order.next(), 20);
  EXPECT_EQ(order.waiting(), 0u);
}

TEST(VideoProgressTest, IdealSharesAreThoseOfThePaper) {
  // Three times as fast: three quarters of the frames.
  std::vector<WorkerState> workers = {{1, 60, 60 * 10, 0}, {2, 40, 40 * 30, 0}};
  share_ideally(workers);
  EXPECT_NEAR(workers[0].ideal, 75, 1e-9);
  EXPECT_NEAR(workers[1].ideal, 25, 1e-9);
  EXPECT_NEAR(deviation(workers), 30, 1e-9);
}

TEST(VideoProgressTest, TogetherAndFastestComeFromMeasuredTimes) {
  Progress progress;
  EXPECT_EQ(progress.together_ns(), 0u);
  progress.note(1, 1000);
  progress.note(2, 3000);
  EXPECT_EQ(progress.together_ns(), 750u);
  EXPECT_EQ(progress.fastest_ns(), 1000u);
}

TEST(VideoProgressTest, TheWorkerThatStaysIsChosenOnce) {
  Progress progress;
  EXPECT_FALSE(progress.staying());
  progress.note(1, 1000);
  progress.note(2, 3000);
  EXPECT_EQ(progress.staying(), 1u);
  progress.note(1, 90'000);
  EXPECT_EQ(progress.staying(), 1u) << "node 2 may have left";
}

}  // namespace
}  // namespace video
