// Chunks whose creator says where their home is: what crosses the network, and which errors are
// reported.
#include <csignal>
#include <vector>

#include "modes.h"
#include "program.h"

namespace terrane::chunks_test {
namespace {

constexpr std::size_t kBytes = 64 << 10;
constexpr std::uint64_t kVersions = 50;

terrane_chunk create_at(const std::string& name, int home, std::size_t bytes = kBytes,
                        terrane_chunk_coherence coherence = TERRANE_CHUNK_STREAM) {
  terrane_chunk chunk;
  EXPECT_OK(terrane_chunk_create_at(name.c_str(), bytes, coherence, home, &chunk, nullptr));
  return chunk;
}

std::uint64_t bytes_sent() {
  terrane_chunk_counters now;
  EXPECT_OK(terrane_chunks_counters(&now));
  return now.data_bytes_sent;
}

// Node 1 writes, node 2 takes each version. So many bytes each node sends meanwhile.
std::uint64_t stream(const std::string& name, int home) {
  terrane_chunk chunk = create_at(name, home);
  if (self() == 2) {
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 4, nullptr, nullptr));
  }
  std::uint64_t before = bytes_sent();  // a server sends as soon as the others have met
  meet(name + " begins");
  for (std::uint64_t version = 1; version <= kVersions && self() > 0; ++version) {
    terrane_scope scope;
    if (self() == 1) {
      scope = open(chunk, TERRANE_CHUNK_WRITE);
      fill(scope, version);
    } else if (self() == 2) {
      EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope));
      EXPECT(whole(scope) == version);
    } else {
      break;
    }
    release(scope);
  }
  meet(name + " ends");
  return bytes_sent() - before;
}

}  // namespace

// The server is node 0.
void placed(bool by_messages) {
  struct Case {
    std::string name;
    int home;
    std::uint64_t transfers[3];  // of each version, by the node that sends it
  };
  for (const Case& one :
       std::vector<Case>{{"by name", TERRANE_HOME_BY_NAME, {1, 1, 0}},
                         {"at the writer", 1, {0, 1, 0}},
                         {"at the subscriber", 2, {0, 1, 0}},
                         {"first", TERRANE_HOME_AT_FIRST_SUBSCRIBER, {0, 1, 0}}}) {
    std::uint64_t sent = stream(one.name, one.home);
    std::uint64_t transfers = by_messages && self() < 3 ? one.transfers[self()] : 0;
    EXPECT(sent == transfers * kVersions * kBytes);
  }
}

void unplaced() {
  terrane_chunk chunk = create_at("unplaced", TERRANE_HOME_AT_FIRST_SUBSCRIBER), found;
  EXPECT(terrane_chunk_home(chunk) == -1);
  EXPECT(terrane_chunk_bytes(chunk) == kBytes);
  EXPECT_OK(terrane_chunk_find("unplaced", TERRANE_TRY, &found));
  EXPECT(terrane_chunk_bytes(found) == kBytes);
  terrane_scope scope;
  int created = 7;
  EXPECT(terrane_chunk_open(chunk, TERRANE_CHUNK_READ, TERRANE_TRY, &scope) == TERRANE_EBUSY);
  EXPECT(error_says("'unplaced' has no home yet: no node has subscribed"));
  EXPECT(terrane_chunk_open(found, TERRANE_CHUNK_WRITE, 1'000'000, &scope) == TERRANE_ETIMEDOUT);
  EXPECT(error_says("no node has subscribed in time"));
  EXPECT(terrane_chunk_take(chunk, TERRANE_TRY, &scope) == TERRANE_EENDED);
  EXPECT_OK(terrane_chunk_unsubscribe(chunk));
  EXPECT_OK(terrane_chunk_drop(chunk));
  EXPECT(terrane_chunk_descriptor(chunk) == TERRANE_EENDED);
  EXPECT(terrane_chunk_create("unplaced", 8, TERRANE_CHUNK_STREAM, &found, nullptr) ==
         TERRANE_EMISMATCH);
  EXPECT(error_says("exists with 65536 bytes and coherence stream"));
  EXPECT(terrane_chunk_create_at("no", 8, TERRANE_CHUNK_INVALIDATE,
                                 TERRANE_HOME_AT_FIRST_SUBSCRIBER, &found,
                                 nullptr) == TERRANE_EINVAL);
  EXPECT(error_says("to which nobody can subscribe; name a node"));
  EXPECT(terrane_chunk_create_at("no", 8, TERRANE_CHUNK_UPDATE, 99, &found, nullptr) ==
         TERRANE_EINVAL);
  EXPECT(error_says("its home at node 99; the job has nodes 0 to"));
  EXPECT(terrane_chunk_create_at("no", 8, TERRANE_CHUNK_UPDATE, -3, &found, nullptr) ==
         TERRANE_EINVAL);
  meet("tried");
  int last = nodes() - 1;
  if (self() == last) {
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
    EXPECT(terrane_chunk_home(chunk) == last);
  }
  if (self() == 0) {  // waits for the subscriber, or finds it
    scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, 5);
    release(scope);
  }
  if (self() == last) {
    EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope));
    EXPECT(whole(scope) == 5);
    release(scope);
  }
  meet("taken");
  scope = open(chunk, TERRANE_CHUNK_READ);
  EXPECT(scope.version == 1 && whole(scope) == 5);
  release(scope);
  EXPECT(terrane_chunk_home(chunk) == last);
  EXPECT_OK(terrane_chunk_create("unplaced", kBytes, TERRANE_CHUNK_STREAM, &found, &created));
  EXPECT(created == 0);
}

// The home, no server, dies: the chunk falls back to what another node has.
void placed_death() {
  terrane_chunk chunk = create_at("survivor", 3, 8, TERRANE_CHUNK_INVALIDATE);
  terrane_scope scope;
  meet("made");
  if (self() == 1) {
    scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, 7);
    release(scope);
  }
  meet("written");
  if (self() == 2) {
    scope = open(chunk, TERRANE_CHUNK_READ);
    EXPECT(whole(scope) == 7);
    release(scope);
  }
  EXPECT(terrane_chunk_home(chunk) == 3);
  meet("read");
  if (self() == 3) ::raise(SIGKILL);
  wait_until([&] { return terrane_chunk_home(chunk) != 3; });
  scope = open(chunk, TERRANE_CHUNK_READ);
  EXPECT(whole(scope) == 7);
  release(scope);
  EXPECT(terrane_chunk_home(chunk) == 0);
}

// Node 1 is the home of a chunk: it serves until all others leave, though it leaves first.
void placed_leaver() {
  terrane_chunk chunk = create_at("kept", 1, 8, TERRANE_CHUNK_UPDATE);
  meet("known");
  if (self() == 1) return;
  ::usleep(100'000);
  for (int round = 0; round < 100; ++round) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
    fill(scope, whole(scope) + 1);
    release(scope);
  }
}

}  // namespace terrane::chunks_test
