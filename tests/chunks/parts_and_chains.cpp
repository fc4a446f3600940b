#include <thread>
#include <vector>

#include "modes.h"
#include "program.h"

namespace terrane::chunks_test {
namespace {

// Parts of a chunk: each node writes its own, and hears of its neighbour's alone.
void each_its_part() {
  constexpr std::uint64_t kVersions = 20;
  const auto part = static_cast<std::size_t>(8000);
  auto all = static_cast<std::size_t>(nodes());
  auto me = static_cast<std::size_t>(self()), other = (me + 1) % all;
  terrane_chunk chunk = create("parts", part * all, TERRANE_CHUNK_STREAM);
  EXPECT_OK(terrane_chunk_subscribe_range(chunk, other * part, part, TERRANE_CHUNK_BLOCK, 2,
                                          nullptr, nullptr));
  meet("ready");
  std::thread writer([&] {
    std::vector<std::uint64_t> words(part / 8);
    for (std::uint64_t v = 1; v <= kVersions; ++v) {
      if (v % 2 == 0) {
        for (std::uint64_t& word : words) word = v;
        EXPECT_OK(terrane_chunk_publish(chunk, me * part, part, words.data(), TERRANE_FOREVER));
        continue;
      }
      terrane_scope scope;
      EXPECT_OK(terrane_chunk_open_range(chunk, TERRANE_CHUNK_WRITE, me * part, part,
                                         TERRANE_FOREVER, &scope));
      EXPECT(scope.bytes == part && scope.offset == me * part);
      fill(scope, v);
      release(scope);
    }
  });
  for (std::uint64_t v = 1; v <= kVersions; ++v) {
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_take(chunk, 20 * kSecond, &scope));
    EXPECT(scope.bytes == part && scope.offset == other * part && scope.missed == 0);
    EXPECT(scope.changed_offset == other * part && scope.changed_bytes == part);
    EXPECT(whole(scope) == v);
    release(scope);
  }
  writer.join();
  meet("done");
  for (std::size_t n = 0; n < all; ++n) {
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_open_range(chunk, TERRANE_CHUNK_READ, n * part, part, TERRANE_FOREVER,
                                       &scope));
    EXPECT(nodes() == 1 || scope.version >= kVersions);
    release(scope);
  }
}

// Parts of a chunk that is not pushed: each node changes its own, and none is lost.
void shared_parts() {
  auto all = static_cast<std::size_t>(nodes());
  auto me = static_cast<std::size_t>(self());
  terrane_chunk chunk = create("shared parts", 64 * all);
  for (std::uint64_t v = 1; v <= 50; ++v) {
    terrane_scope scope;
    EXPECT_OK(
        terrane_chunk_open_range(chunk, TERRANE_CHUNK_WRITE, 64 * me, 64, TERRANE_FOREVER, &scope));
    fill(scope, v);
    release(scope);
  }
  meet("written");
  terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
  EXPECT(scope.offset == 0 && scope.bytes == 64 * all && whole(scope) == 50);
  release(scope);
}

// A chain that all make at once, each writes a share of, and all append to.
void common_chain() {
  auto all = static_cast<std::size_t>(nodes()), me = static_cast<std::size_t>(self());
  terrane_chain chain, found;
  int created = 0;
  EXPECT_OK(
      terrane_chain_create("chain", 8000 * 10, 8000, TERRANE_CHUNK_INVALIDATE, &chain, &created));
  EXPECT_OK(terrane_chain_find("chain", TERRANE_TRY, &found));
  EXPECT(found.id == chain.id);
  if (created) create("chain's maker", 8);
  terrane_chunk piece;
  for (std::size_t i = me; i < 10; i += all) {
    EXPECT_OK(terrane_chain_piece(chain, i, &piece));
    EXPECT(terrane_chunk_bytes(piece) == 8000);
    terrane_scope scope = open(piece, TERRANE_CHUNK_WRITE);
    fill(scope, i + 1);
    release(scope);
  }
  std::size_t first = 0;
  EXPECT_OK(terrane_chain_append(chain, 16'000, &first));
  EXPECT(first >= 10 && first % 2 == 0);
  for (std::size_t i = first; i < first + 2; ++i) {
    EXPECT_OK(terrane_chain_piece(chain, i, &piece));
    terrane_scope scope = open(piece, TERRANE_CHUNK_WRITE);
    fill(scope, i + 1);
    release(scope);
  }
  meet("chained");
  EXPECT_OK(terrane_chunk_find("chain's maker", TERRANE_TRY, &piece));
  terrane_chain_shape shape;
  EXPECT_OK(terrane_chain_look(chain, &shape));
  EXPECT(shape.bytes == 80'000 + 16'000 * all && shape.pieces == 10 + 2 * all);
  EXPECT(shape.piece_bytes == 8000 && shape.coherence == TERRANE_CHUNK_INVALIDATE);
  for (std::size_t i = 0; i < shape.pieces; ++i) {
    EXPECT_OK(terrane_chain_piece(chain, i, &piece));
    terrane_scope scope = open(piece, TERRANE_CHUNK_READ);
    EXPECT(whole(scope) == i + 1);
    release(scope);
  }
  EXPECT(terrane_chain_piece(chain, shape.pieces, &piece) == TERRANE_EINVAL);
  EXPECT(error_says("there is no piece"));
}

// A thread that looks for a chain waits until it has all its pieces.
void awaited_chain() {
  terrane_chain chain;
  if (self() == 0) {
    meet("asked");
    EXPECT_OK(terrane_chain_create("awaited", 1001, 100, TERRANE_CHUNK_STREAM, &chain, nullptr));
  } else {
    EXPECT(terrane_chain_find("awaited", TERRANE_TRY, &chain) == TERRANE_EUNKNOWN);
    meet("asked");
    EXPECT_OK(terrane_chain_find("awaited", TERRANE_FOREVER, &chain));
  }
  terrane_chunk last;
  EXPECT_OK(terrane_chain_piece(chain, 10, &last));
  EXPECT(terrane_chunk_bytes(last) == 1);
  EXPECT(terrane_chain_append(chain, 100, nullptr) == TERRANE_EINVAL);
  EXPECT(error_says("its last piece has 1 of 100 bytes"));
}

void refused_chains() {
  terrane_chain chain;
  terrane_chunk chunk;
  auto made = [&](const char* name, std::uint64_t bytes, std::size_t piece) {
    return terrane_chain_create(name, bytes, piece, TERRANE_CHUNK_INVALIDATE, &chain, nullptr);
  };
  EXPECT(made("none", 0, 8) == TERRANE_EINVAL && error_says("0 bytes"));
  EXPECT(made("none", 8, 0) == TERRANE_EINVAL && error_says("pieces of 0 bytes"));
  EXPECT(made("many", 1u << 30, 1) == TERRANE_EINVAL && error_says("make them larger"));
  EXPECT(made("huge", ~0ull, 1u << 30) == TERRANE_EINVAL);
  EXPECT(made("", 8, 8) == TERRANE_EINVAL && made(nullptr, 8, 8) == TERRANE_EINVAL);
  EXPECT(made(std::string(201, 'n').c_str(), 8, 8) == TERRANE_EINVAL);
  std::string crowded = "crowded " + std::to_string(self());
  EXPECT(made(crowded.c_str(), 1ull << 33, 1u << 28) == TERRANE_ENOMEM);
  EXPECT(error_says("of 32 pieces could be made") && error_says("--memory"));
  EXPECT(terrane_chain_find(crowded.c_str(), TERRANE_TRY, &chain) == TERRANE_EUNKNOWN);
  EXPECT(terrane_chain_find("no chain", kSecond / 100, &chain) == TERRANE_ETIMEDOUT);
  EXPECT_OK(made("shaped", 100, 10));
  EXPECT(made("shaped", 100, 20) == TERRANE_EMISMATCH && error_says("pieces of 10"));
  EXPECT(terrane_chain_append(chain, 0, nullptr) == TERRANE_EINVAL);
  chain.id = create("no chain either", 8).id;
  EXPECT(terrane_chain_piece(chain, 0, &chunk) == TERRANE_EINVAL && error_says("is no chain"));
}

}  // namespace

void parts() {
  each_its_part();
  shared_parts();
}

void chains() {
  common_chain();
  awaited_chain();
}

void misused_chains() { refused_chains(); }

}  // namespace terrane::chunks_test
