#include "picture_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace restore {
namespace {

class PictureFileTest : public testing::Test {
 protected:
  PictureFileTest() : folder_(std::filesystem::temp_directory_path() / unique_name()) {
    std::filesystem::create_directory(folder_);
  }
  ~PictureFileTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& content) {
    const std::string path = folder_ / "picture";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  // A PNG of a smooth 40 x 30 colour picture, as the bytes of its file.
  std::string png_bytes() {
    Image image(40, 30, 3);
    for (std::size_t i = 0; i < image.samples.size(); ++i) {
      image.samples[i] = static_cast<std::uint8_t>(i * i / 7);
    }
    const std::string path = folder_ / "good.png";
    EXPECT_TRUE(write_png(path, image).ok());
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // The sentence names the file and says `what`.
  void expect_refused(const std::string& path, const std::string& what) {
    const Outcome<Image> outcome = read_picture(path);
    ASSERT_FALSE(outcome.ok());
    EXPECT_NE(outcome.sentence().find(path), std::string::npos) << outcome.sentence();
    EXPECT_NE(outcome.sentence().find(what), std::string::npos) << outcome.sentence();
  }

  std::filesystem::path folder_;

 private:
  static std::string unique_name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return "restore-" + std::to_string(getpid()) + "-" + test->name();
  }
};

TEST_F(PictureFileTest, PpmIsReadWithCommentsInItsHeader) {
  const Outcome<Image> outcome = read_picture(file("P6 # colour\n2 2\n# depth\n255\nabcdefghijkl"));
  ASSERT_TRUE(outcome.ok()) << outcome.sentence();
  EXPECT_EQ(outcome.value().channels, 3u);
  EXPECT_EQ(outcome.value().samples.front(), 'a');
  EXPECT_EQ(outcome.value().samples.back(), 'l');
}

TEST_F(PictureFileTest, PgmWithASmallerMaximumIsScaledToEightBits) {
  const Outcome<Image> outcome =
      read_picture(file(std::string("P5\n2 2\n15\n\x00\x0f\x05\x0f", 15)));
  ASSERT_TRUE(outcome.ok()) << outcome.sentence();
  EXPECT_EQ(outcome.value().samples, (std::vector<std::uint8_t>{0, 255, 85, 255}));
}

TEST_F(PictureFileTest, AWrittenPngIsReadBackAsItWas) {
  Image image(5, 4, 1);
  for (std::size_t i = 0; i < 20; ++i) image.samples[i] = static_cast<std::uint8_t>(i * 12);
  const std::string path = folder_ / "grey.png";
  ASSERT_TRUE(write_png(path, image).ok());
  const Outcome<Image> outcome = read_picture(path);
  ASSERT_TRUE(outcome.ok()) << outcome.sentence();
  EXPECT_EQ(outcome.value().channels, 1u);
  EXPECT_EQ(outcome.value().samples, image.samples);
}

TEST_F(PictureFileTest, MissingEmptyAndForeignFilesAreRefused) {
  expect_refused(folder_ / "nowhere.png", "No such file");
  expect_refused(folder_, "is not a file");
  expect_refused(file(""), "empty");
  expect_refused(file("\xff\xd8\xff\xe0 a JPEG"), "no PNG");
  expect_refused(file("P3\n1 1\n255\n1 2 3\n"), "no PNG");
  expect_refused(file("P"), "no PNG");
}

TEST_F(PictureFileTest, TruncatedPnmFilesAreRefused) {
  expect_refused(file("P6"), "header");
  expect_refused(file("P6\n2 2\n"), "header");
  expect_refused(file("P6\n2 2\n255"), "header");
  expect_refused(file("P6\n2 2\n255\nabc"), "truncated, with 3 of 12");
  expect_refused(file("P6\n2 2\n255\nabcdefghijk"), "truncated, with 11 of 12");
}

TEST_F(PictureFileTest, PnmFilesOfImpossibleSizeOrDepthAreRefused) {
  expect_refused(file("P5\n0 4\n255\n"), "0 x 4 pixels");
  expect_refused(file("P5\n1 4\n255\nabcd"), "at least 2 x 2");
  expect_refused(file("P5\n2 2\n65535\nabcdefgh"), "16 bits");
  expect_refused(file("P5\n100000 100000\n255\nab"), "scale the picture down");
  expect_refused(file("P5\n99999999999999999999 2\n255\nab"), "header");
  expect_refused(file("P5\n-2 2\n255\nabcd"), "header");
  expect_refused(file("P5\n2 2\n0\nabcd"), "header");
}

TEST_F(PictureFileTest, APngTruncatedAnywhereIsRefused) {
  const std::string whole = png_bytes();
  for (std::size_t length : {8ul, 20ul, 32ul, 33ul, 60ul, whole.size() / 2, whole.size() - 40}) {
    expect_refused(file(whole.substr(0, length)), "truncated or damaged");
  }
}

TEST_F(PictureFileTest, APngWithABrokenByteIsRefused) {
  std::string broken = png_bytes();
  broken[broken.size() / 2] ^= 0x40;
  expect_refused(file(broken), "truncated or damaged");
}

TEST_F(PictureFileTest, PngHeadersOfImpossibleSizeOrDepthAreRefused) {
  std::string zero = png_bytes();
  zero.replace(16, 4, 4, '\0');
  expect_refused(file(zero), "0 x 30 pixels");
  std::string huge = png_bytes();
  huge.replace(16, 8, 8, '\x7f');
  expect_refused(file(huge), "scale the picture down");
  std::string deep = png_bytes();
  deep[24] = 16;
  expect_refused(file(deep), "16 bits");
}

TEST_F(PictureFileTest, AnUnwritablePlaceIsNamed) {
  const std::string path = folder_ / "no-such-folder" / "out.png";
  const Outcome<> outcome = write_png(path, Image(2, 2, 3));
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.sentence().find(path), std::string::npos);
  EXPECT_NE(outcome.sentence().find("No such file"), std::string::npos) << outcome.sentence();
}

}  // namespace
}  // namespace restore
