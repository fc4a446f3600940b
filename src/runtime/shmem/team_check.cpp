#include <fmt/format.h>

#include <cstring>

#include "base/log.h"
#include "runtime/shmem/team.h"

// What teams do where calls are checked.
namespace terrane::runtime::shmem {
namespace {

// A call as it is shown to others.
struct Shown {
  char name[64];
  char kind[16];
  std::uint64_t numbers[4];
};

void set_text(char* text, std::size_t room, const char* from) {
  std::strncpy(text, from, room - 1);
  text[room - 1] = 0;
}

std::string describe(const Shown& call) {
  if (call.numbers[0] == 0) return call.name;
  return fmt::format("{} ({} bytes, root {}, dest and source at the offsets {} and {})", call.name,
                     call.numbers[0], call.numbers[1], call.numbers[2], call.numbers[3]);
}

}  // namespace

void Team::begin_call(const Call& call) {
  call_ = call.name;
  slots_[self_]->calls.value.store(++calls_, std::memory_order_release);
  Shown ours{{}, {}, {call.bytes, call.root, call.dest, call.source}};
  set_text(ours.name, sizeof ours.name, call.name);
  set_text(ours.kind, sizeof ours.kind, call.kind);
  Shown first = ours;
  share(0, &first, sizeof first);
  bool same = std::strcmp(first.kind, ours.kind) == 0 &&
              std::memcmp(first.numbers, ours.numbers, sizeof ours.numbers) == 0;
  if (!same) {
    world_->fail(fmt::format(
        "{}, where PE {} calls {}: all PEs of a team must make the same collective calls in the "
        "same order",
        describe(ours), pe(0).value, describe(first)));
  }
}

// Says something where calls are checked.
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
