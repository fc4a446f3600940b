#include "stream/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>

namespace terrane::stream {
namespace {

using State = Connection::State;

Credentials credentials(const Secret& secret, bool encrypt) {
  Credentials made{secret};
  if (encrypt) made.key = TlsKey::derive(secret, "test").value();
  return made;
}

// Two ends of one connection; each moves on as far as it can without the other one.
struct Ends {
  std::unique_ptr<Connection> dialer, listener;

  Ends(const Credentials& dials, const Credentials& listens) {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    dialer =
        std::make_unique<Connection>(base::UniqueFd(pair[0]), Connection::Side::kDialer, dials);
    listener =
        std::make_unique<Connection>(base::UniqueFd(pair[1]), Connection::Side::kListener, listens);
  }
  void turn() {
    for (Connection* one : {dialer.get(), listener.get()}) {
      one->flush();
      while (one->receive()) {
      }
    }
  }
  // Until neither is in its proof any longer.
  void prove() {
    for (int i = 0; i < 20; ++i) turn();
  }
};

class ConnectionTest : public ::testing::TestWithParam<bool> {};

TEST_P(ConnectionTest, BothEndsProveTheSecretAndCarryBytes) {
  Secret secret = Secret::random().value();
  Ends ends(credentials(secret, GetParam()), credentials(secret, GetParam()));
  ends.prove();
  ASSERT_EQ(ends.dialer->state(), State::kOpen);
  ASSERT_EQ(ends.listener->state(), State::kOpen);
  for (auto [from, to] : {std::pair(ends.dialer.get(), ends.listener.get()),
                          std::pair(ends.listener.get(), ends.dialer.get())}) {
    from->outgoing().assign(5, std::byte{7});
    ends.turn();
    ends.turn();
    ASSERT_EQ(to->readable().size(), 5u);
    EXPECT_EQ(to->readable()[4], std::byte{7});
    to->consume(5);
    EXPECT_TRUE(from->is_flushed());
  }
}

TEST_P(ConnectionTest, AnotherSecretIsRefused) {
  Ends ends(credentials(Secret::random().value(), GetParam()),
            credentials(Secret::random().value(), GetParam()));
  ends.prove();
  EXPECT_EQ(ends.listener->state(), State::kClosed);
  EXPECT_FALSE(ends.listener->why().empty());
  ends.listener.reset();
  ends.dialer->receive();
  EXPECT_EQ(ends.dialer->state(), State::kClosed);
}

// More than a socket takes: it goes on where it was blocked, with what was appended meanwhile
// behind.
TEST_P(ConnectionTest, ABlockedConnectionGoesOn) {
  Secret secret = Secret::random().value();
  Ends ends(credentials(secret, GetParam()), credentials(secret, GetParam()));
  ends.prove();
  constexpr std::size_t kBytes = 8 << 20;
  for (std::size_t at = 0; at < kBytes; ++at)
    ends.dialer->outgoing().push_back(static_cast<std::byte>(at % 251));
  ends.dialer->flush();
  EXPECT_TRUE(ends.dialer->wants_room());
  EXPECT_FALSE(ends.dialer->is_flushed());
  ends.dialer->outgoing().push_back(static_cast<std::byte>(kBytes % 251));
  std::size_t came = 0;
  for (int round = 0; round < 100'000 && came <= kBytes; ++round) {
    ends.turn();
    for (std::byte byte : ends.listener->readable())
      ASSERT_EQ(byte, static_cast<std::byte>(came++ % 251));
    ends.listener->consume(ends.listener->readable().size());
  }
  EXPECT_EQ(came, kBytes + 1);
  EXPECT_TRUE(ends.dialer->is_flushed());
}

TEST_P(ConnectionTest, AnEndThatGoesIsSeenAfterWhatItSent) {
  Secret secret = Secret::random().value();
  Ends ends(credentials(secret, GetParam()), credentials(secret, GetParam()));
  ends.prove();
  ends.dialer->outgoing().assign(3, std::byte{1});
  ends.dialer->flush();
  ends.dialer.reset();
  while (ends.listener->receive()) {
  }
  ends.listener->receive();
  EXPECT_EQ(ends.listener->readable().size(), 3u);
  EXPECT_EQ(ends.listener->state(), State::kClosed);
  EXPECT_EQ(ends.listener->why(), "the connection was closed");
}

INSTANTIATE_TEST_SUITE_P(Protection, ConnectionTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Tls" : "Proof"; });

TEST(BareConnectionTest, TheSocketIsHandedOn) {
  Secret secret = Secret::random().value();
  Ends ends(credentials(secret, false), credentials(secret, false));
  ends.prove();
  base::UniqueFd socket = ends.dialer->release();
  ASSERT_TRUE(socket);
  ASSERT_EQ(::write(socket.get(), "hi", 2), 2);
  ends.listener->receive();
  EXPECT_EQ(ends.listener->readable().size(), 2u);
}

}  // namespace
}  // namespace terrane::stream
