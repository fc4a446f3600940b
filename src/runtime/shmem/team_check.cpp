#include <fmt/format.h>

#include <cstring>

#include "base/log.h"
#include "runtime/shmem/team.h"

// What teams do if calls are checked.
namespace terrane::runtime::shmem {
namespace {

// A call as other members see it.
struct Shown {
  char name[64];
  char kind[16];
  char type[16];
  std::uint64_t bytes, root, dest, source, alignment;

  bool same(const Shown& other) const {
    return std::strcmp(kind, other.kind) == 0 && std::strcmp(type, other.type) == 0 &&
           bytes == other.bytes && root == other.root && match(dest, other.dest) &&
           match(source, other.source) && alignment == other.alignment;
  }
  static bool match(std::uint64_t place, std::uint64_t other) {
    return place == other || place == Team::Call::kAnywhere || other == Team::Call::kAnywhere;
  }
};

void set_text(char* text, std::size_t room, const char* from) {
  std::strncpy(text, from, room - 1);
  text[room - 1] = 0;
}

std::string describe(const Shown& call) {
  std::string all = call.name;
  if (call.alignment != 0) {
    if (call.bytes != 0) all += fmt::format(" of {} bytes", call.bytes);
    if (call.alignment > 1) all += fmt::format(" aligned to {}", call.alignment);
    if (call.dest != 0) all += fmt::format(", the block at the offset {}", call.dest - 1);
    return all;
  }
  if (call.bytes == 0) return all;
  return fmt::format("{} ({} bytes, root {}, dest and source at the offsets {} and {})", all,
                     call.bytes, call.root, call.dest, call.source);
}

}  // namespace

void Team::begin_call(const Call& call) {
  call_ = call.name;
  slots_[self_]->calls.value.store(++calls_, std::memory_order_release);
  Shown ours{{}, {}, {}, call.bytes, call.root, call.dest, call.source, call.alignment};
  set_text(ours.name, sizeof ours.name, call.name);
  set_text(ours.kind, sizeof ours.kind, call.kind);
  set_text(ours.type, sizeof ours.type, call.type);
  Shown first = ours;
  share(0, &first, sizeof first);
  if (first.same(ours)) return;
  world_->fail(fmt::format(
      "{}{}, where PE {} calls {}: all PEs of a team must make the same collective calls in the "
      "same order",
      describe(ours), world_->place_of_call(), pe(0).value, describe(first)));
}

// Logs nothing unless calls are checked.
void Team::tell_of_wait(double seconds) const {
  if (call_ == nullptr) return;
  std::string missing;
  for (std::uint32_t member = 0; member < shape_.size; ++member) {
    if (slots_[member] == nullptr) continue;
    if (slots_[member]->calls.value.load(std::memory_order_relaxed) >= calls_) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", pe(member).value);
  }
  base::log("has waited {:.3g} s in {}{}, its collective call {} on a team of {} PEs; {}", seconds,
            call_, world_->place_of_call(), calls_, shape_.size,
            missing.empty() ? std::string("all PEs of this host have made it")
                            : fmt::format("PE {} has not made it", missing));
}

}  // namespace terrane::runtime::shmem
