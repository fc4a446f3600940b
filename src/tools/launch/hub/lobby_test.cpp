// The hub's door against strangers.
#include "tools/launch/hub/lobby.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tools/launch/codec.h"
#include "tools/launch/dial.h"

namespace terrane::tools {
namespace {

const stream::Secret kSecret = *stream::Secret::parse("00112233445566778899aabbccddeeff");
const stream::Secret kOther = *stream::Secret::parse("ffeeddccbbaa99887766554433221100");

class LobbyTest : public testing::Test {
 protected:
  void SetUp() override {
    loop_ = std::move(Loop::create()).value();
    lobby_.emplace(*loop_, kSecret,
                   Lobby::Handlers{.on_guest =
                                       [this](std::unique_ptr<Link> link, const Introduction& who) {
                                         links_.push_back(std::move(link));
                                         guests_.push_back(who);
                                       },
                                   .on_stranger = [](const std::string&) {}});
    ASSERT_TRUE(lobby_->open().ok());
  }
  base::UniqueFd connect() {
    base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(lobby_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  void serve(int turns = 20) {
    Timer end(*loop_, [] {});
    for (int i = 0; i < turns; ++i) {
      end.set_in(1);
      loop_->turn();
    }
  }
  // Whether the lobby has closed the connection.
  static bool is_closed(const base::UniqueFd& socket) {
    char bytes[256];
    pollfd ready{socket.get(), POLLIN, 0};
    while (::poll(&ready, 1, 0) > 0) {
      if (::recv(socket.get(), bytes, sizeof bytes, 0) <= 0) return true;
    }
    return false;
  }
  // An engine that comes in, from another thread, for dialling blocks.
  void come_in(const stream::Secret& secret, bool welcome) {
    std::atomic<bool> done{false};
    std::thread engine([&] {
      auto socket = dial_hub({"127.0.0.1"}, lobby_->port(), secret, welcome ? 5000 : 300);
      EXPECT_EQ(socket.ok(), welcome);
      if (socket) {
        std::vector<std::byte> frame, payload;
        Encoder(payload).put(introduce_ourselves());
        append_frame(frame, payload);
        ::send(socket.value().get(), frame.data(), frame.size(), MSG_NOSIGNAL);
      }
      engine_ = socket ? std::move(socket).value() : base::UniqueFd();
      done = true;
    });
    for (int i = 0; i < 5000 && !(welcome ? !guests_.empty() : done.load()); ++i) serve(1);
    engine.join();
  }

  std::unique_ptr<Loop> loop_;
  std::optional<Lobby> lobby_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<Introduction> guests_;
  base::UniqueFd engine_;
};

TEST_F(LobbyTest, WhoProvesTheSecretComesIn) {
  come_in(kSecret, true);
  ASSERT_EQ(guests_.size(), 1u);
  EXPECT_EQ(guests_[0].version, introduce_ourselves().version);
  EXPECT_EQ(links_[0]->peer_address(), "127.0.0.1");
}

// The receiver of its link has not said yet what is to be done with it.
TEST_F(LobbyTest, WhoHasComeInMayGoAtAnyTime) {
  come_in(kSecret, true);
  serve();
  engine_.reset();
  serve();
  ASSERT_EQ(links_.size(), 1u);
  EXPECT_EQ(links_[0]->peer_address(), "");
}

TEST_F(LobbyTest, WhoDoesNotKnowItStaysOutside) {
  come_in(kOther, false);
  EXPECT_TRUE(guests_.empty());
}

TEST_F(LobbyTest, GarbageCostsItsConnectionAlone) {
  base::UniqueFd stranger = connect(), other = connect();
  std::string garbage(4096, 'x');
  ::send(stranger.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  serve();
  EXPECT_TRUE(is_closed(stranger));
  EXPECT_FALSE(is_closed(other));
  come_in(kSecret, true);
  EXPECT_EQ(guests_.size(), 1u);
}

TEST_F(LobbyTest, ManyWhoSayNothingKeepNobodyOut) {
  std::vector<base::UniqueFd> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(connect());
    if (i % 16 == 0) serve(1);
  }
  serve();
  int open = 0;
  for (const auto& socket : silent) open += is_closed(socket) ? 0 : 1;
  EXPECT_LE(open, 64);
  come_in(kSecret, true);
  EXPECT_EQ(guests_.size(), 1u);
}

TEST_F(LobbyTest, AProvenGuestThatDoesNotIntroduceItselfIsNotHandedOn) {
  base::UniqueFd socket = connect();
  stream::Handshake host = stream::Handshake::of_host(kSecret, stream::Nonce{});
  std::byte bytes[stream::kAnswerBytes];
  auto exchange = [&] {
    serve(3);
    ssize_t got = ::recv(socket.get(), bytes, std::min(host.wanted(), sizeof bytes), 0);
    ASSERT_GT(got, 0);
    host.take({bytes, static_cast<std::size_t>(got)});
    ::send(socket.get(), host.out.data(), host.out.size(), MSG_NOSIGNAL);
    host.out.clear();
  };
  exchange();
  exchange();
  ASSERT_EQ(host.state(), stream::HandshakeState::kProven);
  const char nonsense[] = "\x05\0\0\0hello";
  ::send(socket.get(), nonsense, sizeof nonsense - 1, MSG_NOSIGNAL);
  serve();
  EXPECT_TRUE(is_closed(socket));
  EXPECT_TRUE(guests_.empty());
}

}  // namespace
}  // namespace terrane::tools
