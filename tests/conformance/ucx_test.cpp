#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conformance.h"
#include "transport/ucx/card.h"
#include "transport/ucx/outbox.h"

namespace terrane::conformance {
namespace {

using namespace transport::ucx;

// What the ucx transport guarantees beyond the contract of all transports.

// Speaks UCX to a node as the transport does, and sends what it likes.
class Forger {
 public:
  explicit Forger(const transport::Card& card) {
    auto decoded = UcxCard::decode(card);
    require(decoded.ok(), "a card of ours");
    card_ = std::move(decoded).value();
    auto worker = Worker::create({"lo", 2});
    require(worker.ok(), "a worker of UCX");
    worker_ = std::move(worker).value();
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(card_.address.data());
    require(worker_->api().ep_create(worker_->handle(), &params, &endpoint_) == UCS_OK,
            "a connection to the node");
  }
  ~Forger() {
    ucp_request_param_t param{};
    void* closing = worker_->api().ep_close_nbx(endpoint_, &param);
    finish(closing);
  }

  void send(wire::NetworkFrame frame) {
    ucp_request_param_t param{};
    finish(worker_->api().am_send_nbx(endpoint_, 0, &frame, sizeof frame, nullptr, 0, &param));
  }
  std::uint64_t token() const { return card_.token; }

 private:
  void finish(void* request) {
    if (!UCS_PTR_IS_PTR(request)) return;
    while (worker_->api().request_check_status(request) == UCS_INPROGRESS) worker_->progress();
    worker_->api().request_free(request);
  }

  UcxCard card_;
  std::unique_ptr<Worker> worker_;
  ucp_ep_h endpoint_ = nullptr;
};

// Node 2 sends node 0 a frame by hand; all nodes then talk to each other.
std::string forge(const std::function<wire::NetworkFrame(std::uint64_t token)>& frame,
                  std::vector<NodeId> expected_losses) {
  auto body = [&](Node& node) {
    std::vector<std::uint64_t> from(node.nodes);
    Recorder recorder([&](NodeId sender, transport::Bytes) { ++from[sender.value]; });
    if (node.self.value == 2) {
      Forger forger(node.cards[0]);
      forger.send(frame(forger.token()));
      node.board.words[1].store(1);
      poll_until(node, recorder, [&] { return node.board.words[0].load() != 0; });
      return leave_together(node, recorder);
    }
    poll_until(node, recorder, [&] { return node.board.words[1].load() != 0; });
    NodeId peer{1 - node.self.value};
    node.transport.send(peer, make_message(node.self, 0, 100));
    poll_until(node, recorder, [&] { return from[peer.value] == 1; });
    if (node.self.value == 0) {
      if (!expected_losses.empty()) {
        poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
        node.transport.send(NodeId{2}, make_message(node.self, 0, 100));
      }
      node.board.words[0].store(1);
    }
    poll_until(node, recorder, [&] { return node.board.words[0].load() != 0; });
    if (node.self.value == 0) require(recorder.losses == expected_losses, "who is lost");
    recorder.losses.clear();
    leave_together(node, recorder);
  };
  return run_job({.transport = "ucx", .nodes = 3}, body);
}

TEST(UcxTest, AMalformedFrameClosesThatPeerOnly) {
  auto too_early = [](std::uint64_t token) {
    return wire::NetworkFrame{token, 1'000'000, 0, 2, wire::NetworkFrameKind::kMessage};
  };
  EXPECT_EQ(forge(too_early, {NodeId{2}}), "");
}

TEST(UcxTest, AStrangersFrameChangesNothing) {
  auto without_our_word = [](std::uint64_t token) {
    return wire::NetworkFrame{token + 1, 1'000'000, 0, 2, wire::NetworkFrameKind::kMessage};
  };
  EXPECT_EQ(forge(without_our_word, {}), "");
}

// UCX's atomics of versions 1.16 to 1.22 fail on our connections, and all of its own calls are
// served to everybody: over sockets calls are messages, which carry the word of the job.
TEST(UcxTest, OverSocketsUcxItselfServesNoCalls) {
  auto body = [](Node& node) {
    for (const transport::Card& card : node.cards) {
      auto decoded = UcxCard::decode(card);
      require(decoded.ok() && !decoded.value().regions.empty(), "a card with a region");
      require(decoded.value().regions[0].base != 0, "which is served");
      require(decoded.value().regions[0].key.empty(), "but not by UCX");
    }
    Recorder recorder;
    auto before = node.transport.atomic_fetch(NodeId{1 - node.self.value}, {0, 64},
                                              {transport::AtomicOp::kAdd, 8, 5});
    require(before.ok() && before.value() == 0, "an addition");
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = "ucx", .region_bytes = {4096}, .one_sided = true}, body), "");
}

// Every further byte that this process sends by TCP is an error, of which nothing is to be read.
void break_connections() {
  constexpr int kMostDescriptors = 1024;
  for (int fd = 0; fd < kMostDescriptors; ++fd) {
    sockaddr_in peer{};
    socklen_t bytes = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) continue;
    if (peer.sin_family == AF_INET) ::shutdown(fd, SHUT_WR);
  }
}

TEST(UcxTest, AConnectionThatBreaksUnderAMessageIsALoss) {
  static constexpr NodeId kDoomed{1};
  auto body = [](Node& node) {
    if (node.self == kDoomed) {
      node.barrier();
      while (node.board.words[0].load() == 0) ::usleep(1000);
      ::raise(SIGKILL);
    }
    Recorder recorder;
    node.transport.send(kDoomed, make_message(node.self, 0, 32 << 20));
    node.barrier();
    break_connections();
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    node.board.words[0].store(1);
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = "ucx", .doomed = {kDoomed}}, body), "");
}

TEST(UcxTest, MessagesOfEveryWayOfTravelKeepTheirOrder) {
  auto body = [](Node& node) {
    // Short, buffered, in pieces, announced: each behind each of the others.
    constexpr std::size_t kSizes[] = {8, 3000, 20'000, 200'000, 2'000'000};
    constexpr std::uint64_t kMessages = 250;
    auto bytes_of = [&](std::uint64_t number) {
      return kSizes[(number * number / 5 + number) % 5];
    };
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      std::uint64_t number = recorder.messages - 1;
      require_message(message, from, number, bytes_of(number));
    });
    if (node.self.value == 0) {
      for (std::uint64_t number = 0; number < kMessages; ++number) {
        node.transport.send(NodeId{1}, make_message(node.self, number, bytes_of(number)));
      }
    } else {
      poll_until(node, recorder, [&] { return recorder.messages == kMessages; });
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = "ucx"}, body), "");
}

}  // namespace
}  // namespace terrane::conformance
