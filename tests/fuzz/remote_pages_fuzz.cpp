// Messages about pages that a peer may have sent: what is asked of our pages, and answers to what
// we have asked, or have not.
#include <algorithm>
#include <memory>
#include <numeric>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "runtime/remote_pages.h"

namespace terrane::fuzz {
namespace {

using namespace runtime;

constexpr std::uint32_t kNodes = 3;
constexpr int kMostSteps = 64;

// Checks where messages go, and drops them.
class Network final : public transport::Transport {
 public:
  std::string_view name() const override { return "none"; }
  void send(NodeId to, transport::Bytes, transport::Bytes) override {
    TERRANE_CHECK(to.value > 0 && to.value < kNodes, "a message goes to a peer");
  }
  std::size_t poll(transport::Receiver&) override { return 0; }
  bool pending() const override { return false; }
  void sleep(std::uint64_t) override {}
  void attend() override {}
  bool unattend() override { return false; }
  void interrupt() override {}
  std::byte* reach(NodeId, std::uint32_t) override { return nullptr; }
  std::uint64_t region_bytes(NodeId, std::uint32_t) const override { return 0; }
};

std::unique_ptr<PageSpace> make_space() {
  Options options;
  options.space_bytes = 1 << 16;
  return PageSpace::create(options, NodeId{0}, kNodes).value();
}

// Node 0 of three, whose peers' memory cannot be reached.
struct Side {
  Side() { space->connect(network, false); }

  std::unique_ptr<PageSpace> space = make_space();
  protocol::BlockMemory memory = space->protocol_memory();
  Network network;
  ThreadRegistry threads;
  protocol::Subscribers subscribers{true, kNodes};
  protocol::Server server{
      {.self = NodeId{0}, .nodes = kNodes, .blocks = space->blocks(), .block_bytes = space->unit()},
      subscribers};
  RemotePages remote{*space, network, threads, server};
};

void ask(InputReader& reader, Side& side) {
  ThreadContext& context = side.threads.current();
  if (context.exchange.done.load() == 0) return;  // a thread asks one thing at a time
  std::uint32_t kind = reader.below(4);
  NodeId node{1 + reader.below(kNodes - 1)};
  protocol::BlockRange blocks{reader.below(12), 1};
  if (kind == 0 || kind == 3) blocks.count += reader.below(4);
  std::uint32_t entry = 1 + reader.below(kNodes);
  if (kind == 3) {
    bool room = std::any_of(std::begin(context.posted), std::end(context.posted),
                            [](const Exchange& one) { return one.blocks.count == 0; });
    if (room) side.remote.post_fetch({node, blocks}, context);
    return;
  }
  Exchange* asked = nullptr;
  if (kind == 0) asked = &side.remote.ask(protocol::Fetch{node, blocks}, context);
  if (kind == 1)
    asked = &side.remote.ask(protocol::LoadOwner{node, BlockId{blocks.first}}, context);
  if (kind == 2) asked = &side.remote.ask(protocol::ClaimOwner{node, blocks, entry}, context);
  if (asked->done.load() != 0) asked->blocks.count = 0;  // taken, as the engine does
}

void post(InputReader& reader, Side& side) {
  ThreadContext& context = side.threads.current();
  std::vector<std::byte> page(side.space->unit(), static_cast<std::byte>(reader.below(256)));
  std::uint64_t block = reader.below(16);
  side.space->write_pages({block, 1}, page.data(), false);
  NodeId node{1 + reader.below(kNodes - 1)};
  side.remote.post({.node = node, .block = BlockId{block}, .via = kNoNode, .twin_follows = true},
                   context);
  side.remote.send_posted(context);
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  Side side;
  ThreadContext& context = side.threads.current();
  for (int step = 0; step < kMostSteps && !reader.empty(); ++step) {
    switch (reader.below(4)) {
      case 0:
        ask(reader, side);
        break;
      case 1:
        post(reader, side);
        break;
      default: {
        NodeId from{1 + reader.below(kNodes - 1)};
        std::span<const std::byte> part = reader.take_part();
        // Of its exact size, so that a sanitizer sees a read beyond it.
        std::vector<std::byte> message(part.begin(), part.end());
        if (RemotePages::is_ours(message)) side.remote.received(from, message, context.counters);
      }
    }
  }
}

std::vector<Input> seeds() {
  const auto bytes_of = [](const auto& value) { return std::as_bytes(std::span(&value, 1)); };
  const auto message = [](InputWriter& out, std::span<const std::byte> head,
                          std::span<const std::byte> tail) {
    std::vector<std::byte> all(head.begin(), head.end());
    std::copy(tail.begin(), tail.end(), std::back_inserter(all));
    out.byte(2).byte(0).part(all);
  };
  std::vector<std::byte> page(4096, std::byte{5});
  InputWriter answers;
  answers.byte(0).byte(0).byte(0).byte(3).byte(0).byte(0);  // asks node 1 for block 3
  message(answers, bytes_of(wire::PageData{.block = 3, .tracked = 1}), page);
  answers.byte(0).byte(3).byte(0).byte(5).byte(0).byte(0);  // prefetches block 5
  message(answers, bytes_of(wire::PageData{.block = 5}), page);
  answers.byte(0).byte(0).byte(0).byte(5).byte(0).byte(0);  // takes it
  answers.byte(0).byte(2).byte(0).byte(4).byte(0);          // claims block 4
  message(answers, bytes_of(wire::OwnerReply{.block = 4, .owner = 1}), {});
  answers.byte(1).byte(7).byte(5).byte(0);
  message(answers, bytes_of(wire::Flush{.kind = wire::Kind::kFlushed}), {});

  InputWriter requests;
  message(requests, bytes_of(wire::PageFetch{.block = 2}), {});
  message(requests, bytes_of(wire::OwnerRequest{.block = 9, .claim = 2}), {});
  std::vector<std::byte> diff(platform::diff_bound(4096));
  alignas(64) std::byte now[4096] = {};
  alignas(64) std::byte twin[4096] = {};
  std::fill_n(now + 100, 50, std::byte{8});
  diff.resize(platform::diff_kernels().encode(now, twin, sizeof now, false, diff.data()));
  std::vector<std::byte> flush;
  wire::put(flush,
            wire::FlushedBlock{.block = 1, .diff_bytes = static_cast<std::uint32_t>(diff.size())});
  flush.insert(flush.end(), diff.begin(), diff.end());
  message(requests, bytes_of(wire::Flush{.origin = 1}), flush);

  InputWriter
      news;  // two runs of node 1, the first to be passed on to node 2; then none of the run
  std::vector<std::byte> runs;
  protocol::put_push_head(runs, {{.number = 1, .block = 3, .home = 1}, {}, {1}, {}}, {});
  runs.insert(runs.end(), page.begin(), page.end());
  protocol::put_push_head(
      runs, {{.blocks = 2, .number = 1, .block = 4, .home = 1, .same = 1}, {}, {2, 3}, {}}, {});
  runs.insert(runs.end(), page.begin(), page.end());
  std::vector<NodeId> further{NodeId{2}};
  std::vector<std::byte> first;
  protocol::put_push_head(first, {{.number = 1, .block = 6, .home = 1}, {}, {4}, {}}, further);
  first.insert(first.end(), page.begin(), page.end());
  message(news, first, runs);
  std::vector<std::byte> none;
  protocol::put_push_head(none, {{.gone = 1, .number = 2, .block = 6, .home = 1}, {}, {}, {}},
                          further);
  message(news, none, {});
  return {answers.input(), requests.input(), news.input()};
}

}  // namespace terrane::fuzz
