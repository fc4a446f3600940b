// The recordings of the C interface <terrane/recordings.h>. They need no job.
#include <terrane/chunks.h>

#include <memory>

#include "frontend/chunks/process.h"
#include "runtime/chunks/recording.h"

struct terrane_chunk_recording {
  terrane::runtime::chunks::Recording file;
};

namespace {

using namespace terrane::frontend::chunks;

// As with_node, for a call that needs no node.
template <typename Function>
int without_node(const char* call, Function function) noexcept {
  InCall in_call;
  if (!in_call.outermost()) return fail_in_handler();
  Outcome outcome = function();
  if (outcome.ok()) return 0;
  return fail(outcome.status, std::string(call) + ": " + outcome.message);
}

}  // namespace

extern "C" {

int terrane_chunk_recording_create(const char* path, size_t bytes, const char* description,
                                   terrane_chunk_recording** recording) noexcept {
  return without_node("terrane_chunk_recording_create", [&]() -> Outcome {
    if (path == nullptr) return null_argument("path");
    if (recording == nullptr) return null_argument("recording");
    auto made = std::make_unique<terrane_chunk_recording>();
    Outcome outcome = made->file.create(path, bytes, description == nullptr ? "" : description);
    if (outcome.ok()) *recording = made.release();
    return outcome;
  });
}

int terrane_chunk_recording_append(terrane_chunk_recording* recording,
                                   const terrane_scope* scope) noexcept {
  return without_node("terrane_chunk_recording_append", [&]() -> Outcome {
    if (recording == nullptr) return null_argument("recording");
    if (scope == nullptr) return null_argument("scope");
    return recording->file.append(scope->version,
                                  {static_cast<const std::byte*>(scope->data), scope->bytes});
  });
}

int terrane_chunk_recording_open(const char* path, terrane_chunk_recording** recording,
                                 terrane_chunk_recording_facts* facts) noexcept {
  return without_node("terrane_chunk_recording_open", [&]() -> Outcome {
    if (path == nullptr) return null_argument("path");
    if (recording == nullptr) return null_argument("recording");
    auto made = std::make_unique<terrane_chunk_recording>();
    Outcome outcome = made->file.open(path);
    if (!outcome.ok()) return outcome;
    if (facts != nullptr)
      *facts = {.bytes = made->file.bytes(),
                .begin_ns = made->file.begin_ns(),
                .description = made->file.description().c_str(),
                .size = sizeof *facts,
                .reserved = {}};
    *recording = made.release();
    return {};
  });
}

int terrane_chunk_recording_next(terrane_chunk_recording* recording,
                                 terrane_recorded_version* version) noexcept {
  return without_node("terrane_chunk_recording_next", [&]() -> Outcome {
    if (recording == nullptr) return null_argument("recording");
    if (version == nullptr) return null_argument("version");
    terrane::runtime::chunks::Recording::Version next;
    Outcome outcome = recording->file.next(next);
    if (outcome.ok())
      *version = {.version = next.number,
                  .time_ns = next.time_ns,
                  .bytes = next.bytes,
                  .size = sizeof *version,
                  .reserved = {}};
    return outcome;
  });
}

int terrane_chunk_recording_read(terrane_chunk_recording* recording, void* data,
                                 size_t bytes) noexcept {
  return without_node("terrane_chunk_recording_read", [&]() -> Outcome {
    if (recording == nullptr) return null_argument("recording");
    if (data == nullptr) return null_argument("data");
    return recording->file.read({static_cast<std::byte*>(data), bytes});
  });
}

int terrane_chunk_recording_close(terrane_chunk_recording* recording) noexcept {
  delete recording;
  return TERRANE_OK;
}

}  // extern "C"
