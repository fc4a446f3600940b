#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"
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
    worker_->know(card_.door);
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

// Connects to a node's UCX, says this, and tells whether the node closes the connection.
bool is_shown_out(const DoorPlace& place, const std::string& words) {
  constexpr int kPatience_s = 5;
  sockaddr_in address{};
  address.sin_family = place.family;
  address.sin_port = place.port;
  std::memcpy(&address.sin_addr, place.address.data(), sizeof address.sin_addr);
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  timeval patience{.tv_sec = kPatience_s, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  auto* to = reinterpret_cast<const sockaddr*>(&address);
  require(::connect(socket.get(), to, sizeof address) == 0, "a connection");
  require(::send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL) > 0, "a few words");
  char byte = 0;
  ssize_t got = ::recv(socket.get(), &byte, 1, 0);
  return got == 0 || (got < 0 && errno == ECONNRESET);
}

std::string text_of(const std::array<std::byte, 32>& word) {
  return {reinterpret_cast<const char*>(word.data()), word.size()};
}

// What UCX reads it may store anywhere: it gets nothing from those who do not know the node's word.
TEST(UcxTest, AStrangerReachesNoParserOfUcxs) {
  auto body = [](Node& node) {
    Recorder recorder;
    if (node.self.value == 1) {
      std::vector<Door> doors;
      for (const transport::Card& card : node.cards)
        doors.push_back(UcxCard::decode(card).value().door);
      require(doors[0].places.size() == 1, "the node has a door");
      const DoorPlace& place = doors[0].places[0];
      std::string right = text_of(doors[0].word);
      require(is_shown_out(place, "hello"), "a few letters");
      require(is_shown_out(place, std::string(32, 'x')), "a wrong word");
      require(is_shown_out(place, text_of(doors[1].word)), "another node's word");
      require(is_shown_out(place, right.substr(0, 31)), "a part of the word");
      require(is_shown_out(place, std::string(100'000, 'y')), "many letters");
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = "ucx"}, body), "");
}

// A node that joins may listen where one that has died listened. Its peers need its own word.
TEST(UcxTest, APlaceHasTheWordOfItsLatestNode) {
  auto body = [](Node& node) {
    auto keeper = DoorKeeper::create("loaded");
    require(keeper.ok(), "UCX is loaded");
    DoorPlace place{.port = 1, .family = AF_INET};
    require(!DoorKeeper::word_shown_at(place), "nobody has the place yet");
    for (std::byte letter : {std::byte{'a'}, std::byte{'b'}}) {
      Door door{.places = {place}};
      door.word.fill(letter);
      keeper.value()->know(door);
      require(DoorKeeper::word_shown_at(place) == door.word, "the word of the latest");
    }
    Recorder recorder;
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = "ucx"}, body), "");
}

// The engines decide which host is dead, after --death-after. UCX would after 16 s of silence.
TEST(UcxTest, UcxGivesNoPeerUpThatIsSilent) {
  auto body = [](Node& node) {
    constexpr int kMostDescriptors = 1024, kLong_s = 30'000;
    int connections = 0;
    for (int fd = 0; fd < kMostDescriptors; ++fd) {
      sockaddr_in peer{};
      socklen_t bytes = sizeof peer;
      if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) continue;
      if (peer.sin_family != AF_INET) continue;
      ++connections;
      int asks = 0, idle_s = 0;
      bytes = sizeof asks;
      ::getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &asks, &bytes);
      bytes = sizeof idle_s;
      ::getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, &bytes);
      require(asks == 0 || idle_s >= kLong_s, "the kernel does not ask soon");
    }
    require(connections != 0, "a connection");
    Recorder recorder;
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = "ucx"}, body), "");
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
