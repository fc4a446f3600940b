// Versions that go into a file, and come back as those of another chunk.
#include <cstdio>
#include <string>

#include "modes.h"
#include "program.h"

namespace terrane::chunks_test {
namespace {

constexpr std::size_t kBytes = 4096;
constexpr std::uint64_t kVersions = 20;

void record(const std::string& path, terrane_chunk chunk) {
  terrane_chunk_recording* recording;
  EXPECT_OK(terrane_chunk_recording_create(path.c_str(), kBytes, "words", &recording));
  for (std::uint64_t v = 1; v <= kVersions; ++v) {
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope));
    EXPECT_OK(terrane_chunk_recording_append(recording, &scope));
    release(scope);
  }
  EXPECT_OK(terrane_chunk_recording_close(recording));
}

void replay(const std::string& path, terrane_chunk chunk) {
  terrane_chunk_recording* recording;
  terrane_chunk_recording_facts facts;
  EXPECT_OK(terrane_chunk_recording_open(path.c_str(), &recording, &facts));
  EXPECT(facts.bytes == kBytes && std::string(facts.description) == "words");
  terrane_recorded_version version;
  std::uint64_t last = 0, last_ns = 0;
  int status;
  while ((status = terrane_chunk_recording_next(recording, &version)) == TERRANE_OK) {
    EXPECT(version.version == ++last && version.bytes == kBytes && version.time_ns >= last_ns);
    last_ns = version.time_ns;
    terrane_scope scope = open(chunk, TERRANE_CHUNK_WRITE);
    EXPECT_OK(terrane_chunk_recording_read(recording, scope.data, scope.bytes));
    release(scope);
  }
  EXPECT(status == TERRANE_EENDED && last == kVersions);
  EXPECT(error_says(path.c_str()) && error_says("has no more than 20 versions"));
  EXPECT_OK(terrane_chunk_recording_close(recording));
}

void misuse(const std::string& path) {
  terrane_chunk_recording* recording;
  terrane_recorded_version version;
  EXPECT(terrane_chunk_recording_create(nullptr, 1, nullptr, &recording) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_recording_create(path.c_str(), 0, nullptr, &recording) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_recording_create(path.c_str(), 1, nullptr, nullptr) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_recording_open("/nonexistent/f", &recording, nullptr) == TERRANE_ESYSTEM);
  EXPECT(error_says("'/nonexistent/f' cannot be read: No such file"));
  EXPECT(terrane_chunk_recording_open("/proc/self/cmdline", &recording, nullptr) ==
         TERRANE_EMISMATCH);
  EXPECT(error_says("is no recording of a chunk"));
  EXPECT(terrane_chunk_recording_append(nullptr, nullptr) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_recording_next(nullptr, &version) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_recording_read(nullptr, nullptr, 0) == TERRANE_EINVAL);
  EXPECT_OK(terrane_chunk_recording_open(path.c_str(), &recording, nullptr));
  EXPECT(terrane_chunk_recording_next(recording, nullptr) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_recording_read(recording, nullptr, 0) == TERRANE_EINVAL);
  EXPECT_OK(terrane_chunk_recording_close(recording));
  EXPECT_OK(terrane_chunk_recording_close(nullptr));
}

}  // namespace

void recorded() {
  terrane_chunk chunk = create("live", kBytes, TERRANE_CHUNK_STREAM);
  terrane_chunk again = create("again", kBytes, TERRANE_CHUNK_STREAM);
  terrane_chunk mine = self() == 0 ? again : chunk;
  EXPECT_OK(terrane_chunk_subscribe(mine, TERRANE_CHUNK_BLOCK, 0, nullptr, nullptr));
  meet("ready");
  if (self() == 1) {
    std::string path = "recorded." + std::to_string(::getpid());
    record(path, chunk);
    replay(path, again);
    misuse(path);
    std::remove(path.c_str());
    return;
  }
  for (std::uint64_t v = 1; v <= kVersions; ++v) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, v);
    release(scope);
  }
  for (std::uint64_t v = 1; v <= kVersions; ++v) {
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_take(again, 20 * kSecond, &scope));
    EXPECT(whole(scope) == v);
    release(scope);
  }
}

}  // namespace terrane::chunks_test
