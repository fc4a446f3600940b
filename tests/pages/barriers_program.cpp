// Barriers that carry no notices, between ones that do. Says "good" on every node, or what went
// wrong. Usage: barriers_program held | mixed | threads | freed | along | rows | regions | late |
// readers
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "program.h"

using namespace terrane::pages_test;

namespace {

int rank() { return terrane_node(); }

void meet(std::uint32_t barrier = 0, std::uint32_t threads = 1) {
  EXPECT(terrane_barrier_threads(barrier, threads) == TERRANE_OK);
}

terrane_counters counters() {
  terrane_counters all{};
  EXPECT(terrane_read_counters(&all) == TERRANE_OK);
  return all;
}

std::uint64_t messages() { return counters().messages_sent; }

std::int64_t sum_of(std::int64_t mine) {
  std::int64_t sum = 0;
  EXPECT(terrane_barrier_reduce(0, 1, TERRANE_SUM, TERRANE_INT64, &mine, &sum, 1) == TERRANE_OK);
  return sum;
}

// What each node writes in some rounds, in a page of its own, and all others read.
struct Pages {
  std::uint64_t* words = allocate_all<std::uint64_t>(kPage / 8 * 16);
  volatile std::uint64_t& of(int node) {
    return at(words, static_cast<std::size_t>(node) * kPage / 8);
  }
  void expect_all(std::uint64_t value) {
    for (int node = 0; node < terrane_nodes(); ++node) EXPECT(of(node) == value);
  }
};

// Once nobody has copies or news, rounds send no messages, with and without work at home.
void held() {
  Pages pages;
  pages.of(rank()) = 1;
  meet();
  pages.expect_all(1);
  meet();
  EXPECT(terrane_evict(pages.words, 16 * kPage) == TERRANE_OK);
  for (int round = 0; round < 200; ++round) meet();
  std::uint64_t before = messages();
  for (int round = 0; round < 1000; ++round) meet();
  EXPECT(messages() - before <= 10);
  pages.of(rank()) = 2;
  meet();
  pages.expect_all(2);
}

// Rounds with and without news, copies, and values, in an order that is the same on all nodes.
void mixed() {
  Pages pages;
  std::uint64_t* shared = allocate_all<std::uint64_t>(kPage / 8);
  std::uint64_t value = 0;
  for (unsigned round = 0, draw = 12345; round < 1500; ++round) {
    draw = draw * 1103515245 + 12345;
    unsigned what = draw >> 16 & 31;
    if (what == 0) pages.of(rank()) = ++value;
    if (what == 1) EXPECT(sum_of(rank() + 1) == terrane_nodes() * (terrane_nodes() + 1) / 2);
    if (what == 2) EXPECT(terrane_evict(pages.words, 16 * kPage) == TERRANE_OK);
    if (what == 3 && rank() == static_cast<int>(round) % terrane_nodes()) at(shared, 0) = round;
    if (what == 4) meet(round % 100);
    meet();
    if (what == 0) pages.expect_all(value);
    if (what == 3) EXPECT(at(shared, 0) == round);
    if (what == 0 || what == 3) meet();
  }
}

// Two threads of each node, which meet each other, all threads, and the threads of their number.
void threads() {
  constexpr std::uint32_t kThreads = 2;
  Pages pages;
  auto work = [&](std::uint32_t self) {
    for (std::uint64_t round = 1; round <= 150; ++round) {
      if (round % 5 == self) pages.of(rank()) = round;
      meet(1, kThreads);
      if (round % 5 < kThreads) pages.expect_all(round);
      meet(1, kThreads);
      meet(2 + self);
      if (round % 3 == self) meet(2 + self);
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
}

// A region is freed while the other nodes have copies of it, which die at the barrier after that;
// the next one takes its place.
void freed() {
  constexpr std::size_t kBytes = 64 * kPage;
  for (int round = 0; round < 1000; ++round) {
    auto* bytes = static_cast<unsigned char*>(terrane_alloc_all(kBytes, nullptr));
    EXPECT(bytes != nullptr);
    for (unsigned char turn = 1; turn < 4; ++turn) {
      if (rank() == 0)
        for (std::size_t i = 0; i < kBytes; i += kPage) at(bytes, i) = turn;
      meet();
      if (rank() != 0)
        for (std::size_t i = 0; i < kBytes; i += kPage) EXPECT(at(bytes, i) == turn);
      meet();
    }
    if (rank() == 0) EXPECT(terrane_free(bytes) == TERRANE_OK);
    meet();
  }
}

// After every round each of two nodes reads what the other one wrote before it, in two pages in
// turn, as a stencil does. A round is a message each, and the page comes with it. No node requests
// pages to which it subscribes, and copies in use are not dropped to see whether they are used.
void along() {
  constexpr std::uint64_t kRounds = 400;
  std::uint64_t* words[2] = {allocate_all<std::uint64_t>(2 * kPage / 8, 0),
                             allocate_all<std::uint64_t>(2 * kPage / 8, 1)};
  auto of = [&](int node, std::uint64_t round) -> volatile std::uint64_t& {
    return at(words[node], round % 2 * kPage / 8);
  };
  std::uint64_t before = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    if (round == kRounds / 2) before = messages();
    of(rank(), round) = round;
    meet();
    EXPECT(of(1 - rank(), round) == round);
  }
  EXPECT(messages() - before <= kRounds / 2 + 4);
}

// The same of rows of two pages, with more behind them: what a node sent in ten rounds after those
// in which it learned; and in the two rounds in which it reads each of its arrays a second time.
struct Sent {
  std::uint64_t messages;
  std::uint64_t bytes;
  std::uint64_t early = 0;
};
Sent learn_rows() {
  constexpr std::uint64_t kRounds = 17;  // subscriptions of earlier arrays end in other rounds
  constexpr std::uint64_t kRowWords = 2 * kPage / 8;
  constexpr std::uint64_t kWords = 4 * kRowWords;
  std::uint64_t* arrays[2][2];
  for (int node : {0, 1})
    for (int turn : {0, 1})
      arrays[node][turn] = allocate_all<std::uint64_t>(kWords, static_cast<std::uint32_t>(node));
  terrane_counters before{};
  terrane_counters after{};
  std::uint64_t first = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    if (round == 3) first = messages();
    if (round == 5) before = counters();
    if (round == 15) after = counters();
    for (std::uint64_t i = 0; i < kWords; ++i) at(arrays[rank()][round % 2], i) = round;
    meet();
    for (std::uint64_t i = 0; i < kRowWords; ++i)
      EXPECT(at(arrays[1 - rank()][round % 2], i) == round);
  }
  return {after.messages_sent - before.messages_sent,
          after.message_bytes_sent - before.message_bytes_sent, before.messages_sent - first};
}

// A round is a message from then on: the first miss has shown the home which blocks are wanted
// again. Of the two rows of the miss, one has not changed since the round before, and is not sent.
// Now and then a page that happens to be tracked takes longer.
void rows() {
  Sent least{~0ull, ~0ull, ~0ull};
  for (int i = 0; i < 12; ++i) {
    Sent sent = learn_rows();
    least.messages = std::min(least.messages, sent.messages);
    least.bytes = std::min(least.bytes, sent.bytes);
    least.early = std::min(least.early, sent.early);
  }
  EXPECT(least.messages == 10);
  EXPECT(least.early <= 4);  // a miss is two, of each row
  EXPECT(least.bytes < 10 * 3 * kPage);
}

// What one node writes in a region and another reads, in 64 rounds after 128 in which that is
// learned: what the first one sent, and how often the other missed a page.
struct Consumed {
  Sent sent;
  std::uint64_t faults;
};
constexpr std::uint64_t kWindow = 64;  // rounds
Consumed consume(terrane_propagation propagation, std::uint64_t stride) {
  constexpr std::uint64_t kPages = 64;
  terrane_alloc_options options{.propagation = propagation};
  std::uint64_t bytes = kPages * stride * kPage;
  auto* words = static_cast<std::uint64_t*>(terrane_alloc_all(bytes, &options));
  EXPECT(words != nullptr);
  terrane_counters before{};
  for (std::uint64_t round = 1; round <= 3 * kWindow; ++round) {
    if (round == 2 * kWindow + 1) before = counters();
    for (std::uint64_t page = 0; page < kPages && rank() == 0; ++page)
      at(words, page * stride * kPage / 8) = round + page;
    meet();
    for (std::uint64_t page = 0; page < kPages && rank() == 1; ++page)
      EXPECT(at(words, page * stride * kPage / 8) == round + page);
    meet();
  }
  terrane_counters after = counters();
  meet();
  if (rank() == 0) EXPECT(terrane_free(words) == TERRANE_OK);
  meet();
  return {{(after.messages_sent - before.messages_sent) / kWindow,
           (after.message_bytes_sent - before.message_bytes_sent) / kWindow},
          after.read_faults - before.read_faults};
}

// What a region's pages were taught by does not depend on the regions before it. A page travels
// once a round, in a few messages in which its neighbours go too, whichever of them were missed
// together; and has to show ever more seldom that it is used.
void regions() {
  for (int times = 0; times < 2; ++times) {
    Consumed missed = consume(TERRANE_INVALIDATE, 1);
    EXPECT(rank() == 0 || missed.faults <= 6 * kWindow);
    for (std::uint64_t stride : {1, 2}) {
      for (terrane_propagation how : {TERRANE_UPDATE, TERRANE_ADAPTIVE}) {
        Consumed renewed = consume(how, stride);
        EXPECT(rank() == 1 || renewed.sent.messages <= 8);
        EXPECT(rank() == 1 || renewed.sent.bytes <= 68 * kPage);
        EXPECT(rank() == 0 || renewed.faults <= (how == TERRANE_UPDATE ? 0 : 4));
      }
    }
  }
}

// How often this node's handler thread went to sleep so far.
std::uint64_t handler_sleeps() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    if (name != "terrane-handler") continue;
    std::ifstream status(task.path() / "status");
    for (std::string word; status >> word;) {
      std::uint64_t times = 0;
      if (word == "voluntary_ctxt_switches:" && status >> times) return times;
    }
  }
  EXPECT(!"no handler thread");
  return 0;
}

// The last node always comes late. What the others send meanwhile is of no use before it has come:
// it wakes no handler, which would take the processor from the thread that computes.
void late() {
  constexpr std::uint64_t kRounds = 1000;
  Pages pages;
  bool is_last = rank() == terrane_nodes() - 1;
  std::uint64_t before = 0;
  for (std::uint64_t round = 1; round <= 2 * kRounds; ++round) {
    if (round == kRounds) before = handler_sleeps();
    pages.of(rank()) = round;
    auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(is_last ? 50 : 0);
    while (std::chrono::steady_clock::now() < until) {
    }
    meet();
    pages.expect_all(round);
    meet(1);
  }
  EXPECT(!is_last || handler_sleeps() - before < kRounds / 4);
}

// All nodes read in every round what one writes: always node 0, whose home sends it along a tree of
// the readers; then each node in turn, so that the homes move. Runs of 2 pages and of 8.
void readers() {
  constexpr std::uint64_t kRounds = 80, kPages = 10;
  std::uint64_t* words = allocate_all<std::uint64_t>(kPages * kPage / 8);
  auto* moving = static_cast<std::uint64_t*>(terrane_alloc_all(kPages * kPage, nullptr));
  EXPECT(moving != nullptr);
  auto each_page = [](auto work) {
    for (std::uint64_t page = 0; page <= kPages; ++page)
      if (page != 2) work(page > 2 ? page - 1 : page);
  };
  constexpr std::uint64_t kWindow = 10;
  std::uint64_t before = 0;
  std::uint64_t most = 0;  // bytes that this node sent in a window: now and then copies are dropped
  for (std::uint64_t round = 1; round <= 2 * kRounds; ++round) {
    bool turns = round > kRounds;
    std::uint64_t* base = turns ? moving : words;
    int writer = turns ? static_cast<int>(round / 20) % terrane_nodes() : 0;
    if (round % kWindow == 1) before = counters().message_bytes_sent;
    if (rank() == writer)
      each_page([&](std::uint64_t page) { at(base, page * kPage / 8 + round % 512) = round; });
    meet();
    each_page(
        [&](std::uint64_t page) { EXPECT(at(base, page * kPage / 8 + round % 512) == round); });
    meet();
    if (round % kWindow == 0) most = std::max(most, counters().message_bytes_sent - before);
    // Of seven readers three get the pages from another reader; fewer where readers have asked for
    // other runs than their neighbours.
    if (round != kRounds) continue;
    std::int64_t passed_on = sum_of(rank() == 0 ? 0 : static_cast<std::int64_t>(most));
    EXPECT(passed_on > static_cast<std::int64_t>(kWindow * kPages * kPage));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  EXPECT(terrane_init() == TERRANE_OK);
  if (mode == "held") held();
  if (mode == "mixed") mixed();
  if (mode == "threads") threads();
  if (mode == "freed") freed();
  if (mode == "along") along();
  if (mode == "late") late();
  if (mode == "rows") rows();
  if (mode == "regions") regions();
  if (mode == "readers") readers();
  EXPECT(terrane_finalize() == TERRANE_OK);
  std::puts("good");
}
