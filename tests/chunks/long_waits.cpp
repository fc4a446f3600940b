// Calls that wait for what does not come, and what they report.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "modes.h"
#include "program.h"

namespace terrane::chunks_test {

namespace {

constexpr std::int64_t kLong = 2 * kSecond;

// One thread for each kind of wait.
void wait_for_all_kinds() {
  std::vector<std::thread> threads;
  auto times_out = [&](auto call) {
    threads.emplace_back([call] { EXPECT(call() == TERRANE_ETIMEDOUT); });
  };
  static terrane_scope scopes[3];
  terrane_chunk quiet, spoken, held;
  EXPECT_OK(terrane_chunk_find("quiet", TERRANE_TRY, &quiet));
  EXPECT_OK(terrane_chunk_find("spoken", TERRANE_TRY, &spoken));
  EXPECT_OK(terrane_chunk_find("held", TERRANE_TRY, &held));
  for (terrane_chunk chunk : {quiet, spoken})
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
  EXPECT_OK(terrane_chunk_take(spoken, TERRANE_FOREVER, &scopes[0]));
  release(scopes[0]);
  times_out([] {
    terrane_chunk chunk;
    return terrane_chunk_find("missing", kLong, &chunk);
  });
  times_out([] {
    terrane_chain chain;
    return terrane_chain_find("missing chain", kLong, &chain);
  });
  times_out([=] { return terrane_chunk_take(quiet, kLong, &scopes[0]); });
  times_out([=] { return terrane_chunk_take(spoken, kLong, &scopes[1]); });
  times_out([] { return terrane_chunk_await("signal", 2, kLong, nullptr); });
  times_out([] { return terrane_chunk_barrier("gate", 3, kLong); });
  times_out([] { return terrane_chunk_barrier("gate", 3, kLong); });
  times_out([] { return terrane_chunk_lock("lock", kLong, &scopes[2]); });
  times_out([=] { return terrane_chunk_hint(held, TERRANE_CHUNK_UPDATE, kLong); });
  for (std::thread& thread : threads) thread.join();
}

std::atomic<bool> handler_runs{false};

void sleep_in_handler(const terrane_scope*, void*) {
  handler_runs = true;
  ::usleep(2'000'000);
}

}  // namespace

void long_waits() {
  terrane_chunk chunk;
  terrane_scope scope, lock, write;
  if (self() == 2) {
    create("quiet", 64, TERRANE_CHUNK_STREAM);
    std::uint64_t one = 1;
    chunk = create("spoken", 8, TERRANE_CHUNK_STREAM);
    EXPECT_OK(terrane_chunk_publish(chunk, 0, sizeof one, &one, TERRANE_FOREVER));
    write = open(chunk, TERRANE_CHUNK_WRITE);
    scope = open(create("held", 8), TERRANE_CHUNK_WRITE);
    EXPECT_OK(terrane_chunk_lock("lock", TERRANE_FOREVER, &lock));
    EXPECT_OK(terrane_chunk_signal("signal", nullptr));
  }
  meet("made");
  if (self() == 1) {
    wait_for_all_kinds();
    create("over", 8);
  }
  EXPECT_OK(terrane_chunk_find("over", TERRANE_FOREVER, &chunk));
  if (self() != 2) return;
  for (terrane_scope* open : {&scope, &lock, &write}) release(*open);
  EXPECT_OK(terrane_chunk_barrier("gate", 3, kSecond));
  // Its end waits for the handler that runs.
  chunk = create("slow", 8, TERRANE_CHUNK_UPDATE);
  EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_LATEST, 1, sleep_in_handler, nullptr));
  EXPECT_OK(terrane_chunk_publish(chunk, 0, 8, &chunk, TERRANE_FOREVER));
  wait_until([] { return handler_runs.load(); });
  EXPECT_OK(terrane_chunk_unsubscribe(chunk));
}

// Every thread of the process is stopped: a signal reaches them one after the other.
bool has_stopped(pid_t process) {
  std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(thread.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos || text[name_end + 2] != 'T') return false;
  }
  return true;
}

// The server is stopped while a client creates a chunk and looks for one.
void silent_server() {
  terrane_chunk chunk = create("process", 8);
  terrane_scope scope;
  if (self() == 0) {
    scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, static_cast<std::uint64_t>(::getpid()));
    release(scope);
  }
  meet("known");
  if (self() == 1) {
    scope = open(chunk, TERRANE_CHUNK_READ);
    auto server = static_cast<pid_t>(whole(scope));
    release(scope);
    ::kill(server, SIGSTOP);
    wait_until([server] { return has_stopped(server); });
    std::thread creates([] { create("new", 8); });
    EXPECT(terrane_chunk_find("missing", kLong, &chunk) == TERRANE_ETIMEDOUT);
    ::kill(server, SIGCONT);
    creates.join();
  }
}

// Scopes of versions that a subscriber holds keep the next one from coming.
void full_window() {
  terrane_chunk chunk = create("full", 64, TERRANE_CHUNK_STREAM);
  if (self() == 1)
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
  meet("subscribed");
  for (std::uint64_t v = 1; self() == 0 && v <= 5; ++v) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, v);
    release(scope);
  }
  if (self() != 1) return;
  terrane_scope scopes[4];
  for (int i = 0; i < 3; ++i) EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scopes[i]));
  EXPECT(terrane_chunk_take(chunk, TERRANE_TRY, &scopes[3]) == TERRANE_EFULL);
  EXPECT(error_says("holds scopes of 3 versions (1, 2, 3)") &&
         error_says("release the scope of version 1"));
  EXPECT(terrane_chunk_take(chunk, kLong, &scopes[3]) == TERRANE_EFULL);
  EXPECT(error_says("holds scopes of 3 versions (1, 2, 3)"));
  release(scopes[0]);
  EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scopes[0]));
  EXPECT(scopes[0].version == 4);
  for (int i = 0; i < 3; ++i) release(scopes[i]);
}

}  // namespace terrane::chunks_test
