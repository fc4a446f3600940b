#include "runtime/chunks/recording.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "base/test_folder.h"

namespace terrane::runtime::chunks {
namespace {

class RecordingTest : public testing::Test {
 protected:
  // Versions 1, 2, ... of so many bytes each; every byte of a version is its number.
  void record(const std::vector<std::size_t>& lengths, std::string description = "") {
    Recording made;
    ASSERT_TRUE(made.create(path_, 100, std::move(description)).ok());
    for (std::size_t i = 0; i < lengths.size(); ++i)
      ASSERT_TRUE(made.append(i + 1, bytes(i + 1, lengths[i])).ok());
  }

  static std::vector<std::byte> bytes(std::size_t value, std::size_t count) {
    return std::vector<std::byte>(count, static_cast<std::byte>(value));
  }

  // The message of the first call that fails.
  std::string error_of_replay() {
    Recording recording;
    Outcome outcome = recording.open(path_);
    Recording::Version version;
    std::vector<std::byte> room(100);
    while (outcome.ok()) {
      outcome = recording.next(version);
      if (outcome.ok()) outcome = recording.read(room);
    }
    return outcome.status == Status::kEnded ? "" : outcome.message;
  }

  base::TestFolder folder_;
  std::string path_ = folder_ / "recording";
};

TEST_F(RecordingTest, VersionsComeBackWithTheirNumbersLengthsAndTimes) {
  record({100, 0, 7}, "three");
  Recording recording;
  ASSERT_TRUE(recording.open(path_).ok());
  EXPECT_EQ(recording.bytes(), 100u);
  EXPECT_EQ(recording.description(), "three");
  EXPECT_GT(recording.begin_ns(), 1'600'000'000'000'000'000u) << "after 2020";
  Recording::Version version;
  std::uint64_t last_ns = 0;
  for (std::size_t number : {1, 2, 3}) {
    ASSERT_TRUE(recording.next(version).ok());
    EXPECT_EQ(version.number, number);
    EXPECT_GE(version.time_ns, last_ns);
    last_ns = version.time_ns;
    std::vector<std::byte> room(100);
    ASSERT_TRUE(recording.read(room).ok());
    room.resize(version.bytes);
    EXPECT_EQ(room, bytes(number, number == 1 ? 100 : number == 2 ? 0 : 7));
  }
  EXPECT_EQ(recording.next(version).status, Status::kEnded);
}

TEST_F(RecordingTest, TheFormIsTheDocumentedOne) {
  record({5}, "ab");
  EXPECT_EQ(std::filesystem::file_size(path_), 64u + 8 + 32 + 8);
  std::vector<char> file(112);
  FILE* in = std::fopen(path_.c_str(), "r");
  ASSERT_EQ(std::fread(file.data(), 1, file.size(), in), file.size());
  std::fclose(in);
  auto number = [&](std::size_t offset) {
    std::uint64_t value;
    std::memcpy(&value, &file[offset], sizeof value);
    return value;
  };
  EXPECT_EQ(std::string(file.data(), 8), "TRNRECRD");
  EXPECT_EQ(number(8), 1u + (std::uint64_t{2} << 32)) << "form, and length of the description";
  EXPECT_EQ(number(16), 100u);
  EXPECT_EQ(std::string(&file[64]), "ab");
  EXPECT_EQ(std::string(&file[72]), "version");
  EXPECT_EQ(number(80), 1u);
  EXPECT_EQ(number(96), 5u);
  EXPECT_EQ(number(104), 0x0101010101u);
}

TEST_F(RecordingTest, AFileThatWasCutShortSaysAtWhichVersion) {
  record({100, 100});
  std::uint64_t whole = std::filesystem::file_size(path_);
  ASSERT_EQ(whole, 64u + 2 * (32 + 104));
  std::filesystem::resize_file(path_, whole - 20);
  EXPECT_EQ(error_of_replay(), "'" + path_ +
                                   "' was cut short: it has 84 of 100 bytes of version "
                                   "2; the 1 versions before it are whole");
  std::filesystem::resize_file(path_, 64 + 136 + 11);
  EXPECT_EQ(error_of_replay(), "'" + path_ +
                                   "' was cut short: it has 11 of 32 bytes of the head "
                                   "of its next version; the 1 versions before it are whole");
  std::filesystem::resize_file(path_, 64 + 136);
  EXPECT_EQ(error_of_replay(), "");
  std::filesystem::resize_file(path_, 30);
  EXPECT_NE(error_of_replay().find("is no recording"), std::string::npos);
}

TEST_F(RecordingTest, FilesOfAnotherKindAreRefused) {
  EXPECT_NE(error_of_replay().find("No such file"), std::string::npos);
  auto damage = [&](long offset, char value) {
    record({100, 100}, "text");
    FILE* file = std::fopen(path_.c_str(), "r+");
    std::fseek(file, offset, SEEK_SET);
    std::fputc(value, file);
    std::fclose(file);
    return error_of_replay();
  };
  EXPECT_NE(damage(0, 'x').find("is no recording of a chunk"), std::string::npos);
  EXPECT_NE(damage(8, 9).find("of form 9, and this version of Terrane reads form 1"),
            std::string::npos);
  EXPECT_NE(damage(15, 1).find("are damaged"), std::string::npos) << "a long description";
  EXPECT_NE(damage(72 + 136, 'x').find("is damaged at byte 208"), std::string::npos);
  EXPECT_NE(damage(72 + 136 + 30, 1).find("is damaged at byte 208"), std::string::npos)
      << "a length that no version has";
}

TEST_F(RecordingTest, WrongCallsAreRefused) {
  Recording made;
  EXPECT_EQ(made.create(path_, 0, "").status, Status::kInvalid);
  EXPECT_EQ(made.create(path_, 1, std::string(70'000, 'x')).status, Status::kInvalid);
  EXPECT_EQ(made.create("/nonexistent/file", 1, "").status, Status::kSystem);
  EXPECT_EQ(made.create(folder_.path(), 1, "").status, Status::kSystem);
  ASSERT_TRUE(made.create(path_, 8, "").ok());
  EXPECT_EQ(made.append(1, bytes(1, 9)).status, Status::kInvalid);
  ASSERT_TRUE(made.append(1, bytes(1, 8)).ok());
  Recording::Version version;
  EXPECT_EQ(made.next(version).status, Status::kState);
  Recording recording;
  ASSERT_TRUE(recording.open(path_).ok());
  std::vector<std::byte> room(4);
  EXPECT_EQ(recording.read(room).status, Status::kState);
  ASSERT_TRUE(recording.next(version).ok());
  EXPECT_EQ(recording.read(room).status, Status::kInvalid);
  EXPECT_EQ(recording.append(2, room).status, Status::kState);
}

// Without room the version that does not fit is not in the file.
TEST_F(RecordingTest, AFullDiskLeavesTheVersionsBefore) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 64 + 136 + 60;
  Recording made;
  ASSERT_TRUE(made.create(path_, 100, "").ok());
  ASSERT_TRUE(made.append(1, bytes(1, 100)).ok());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Outcome outcome = made.append(2, bytes(2, 100));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(outcome.status, Status::kSystem);
  EXPECT_NE(outcome.message.find("has no room for version 2"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), 64u + 136);
  ASSERT_TRUE(made.append(3, bytes(3, 50)).ok());
  EXPECT_EQ(error_of_replay(), "");
}

}  // namespace
}  // namespace terrane::runtime::chunks
