// Locks under conditions that are hard on those who wait for them. Says "good" on every node, or
// what went wrong. Usage: locks_program fair
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "program.h"

using namespace terrane::pages_test;

namespace {

// The handler threads of this node run only where nothing else does.
void starve_handlers() {
  int found = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != "terrane-handler") continue;
    sched_param none{};
    EXPECT(::sched_setscheduler(std::stoi(task.path().filename()), SCHED_IDLE, &none) == 0);
    ++found;
  }
  EXPECT(found > 0);
}

// A node that takes its free lock again and again, without a message, hears of others that want it
// all the same. Whether the lock went to and fro often enough, which it does not where the other
// has just no processor.
bool is_fair() {
  constexpr std::uint32_t kLock = 5;
  constexpr std::uint64_t kEnough = 1000;
  constexpr std::uint64_t kMost = 100'000;  // turns of a node
  struct Shared {
    int holder;
    std::uint64_t moves;
  };
  auto* shared = allocate_all<Shared>(1);
  EXPECT(terrane_barrier() == TERRANE_OK);
  std::uint64_t moves = 0;
  for (std::uint64_t turn = 0; turn < kMost && moves < kEnough; ++turn) {
    EXPECT(terrane_lock(kLock) == TERRANE_OK);
    if (shared->holder != terrane_node()) {
      shared->holder = terrane_node();
      ++shared->moves;
    }
    moves = shared->moves;
    EXPECT(terrane_unlock(kLock) == TERRANE_OK);
  }
  EXPECT(terrane_barrier() == TERRANE_OK);
  return shared->moves >= kEnough;
}

void fair() {
  starve_handlers();
  bool good = false;
  for (int tries = 0; tries < 3 && !good; ++tries) good = is_fair();
  EXPECT(good);
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  EXPECT(terrane_init() == TERRANE_OK);
  EXPECT(mode == "fair");
  fair();
  EXPECT(terrane_finalize() == TERRANE_OK);
  std::puts("good");
}
