// Bad connections to the ports of running jobs keep nobody out and end nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include "../launcher/launched.h"
#include "strangers/tls_port.h"
#include "tools/launch/guests/invitation.h"

namespace terrane::cluster_test {
namespace {

Outcome send_in(const std::string& options, std::uint16_t port, const stream::Secret& secret) {
  return Launched(words(std::string(STRANGERS_PROGRAM) + " --patience 200 " + options + " --port " +
                        std::to_string(port) + " --secret " + secret.hex()))
      .finish();
}

TEST(StrangersTest, APortWithTlsRefusesAllOfThem) {
  auto secret = stream::Secret::random().value();
  strangers::TlsPort port(stream::TlsKey::derive(secret, "gateway").value());
  Outcome outcome = send_in("--tls gateway --count 600", port.port(), secret);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  // A good one that is not let in is seen.
  auto other = stream::Secret::random().value();
  EXPECT_EQ(send_in("--tls gateway --count 20", port.port(), other).exit_code, 1);
}

TEST(StrangersTest, TheHubRefusesAllOfThemAndTheJobGoesOn) {
  const std::string name = "strangers-" + std::to_string(::getpid());
  Launched job(words(std::string(kTerrane) + " run -n 2 --guests 1 --name " + name + " " +
                     CHUNKS_PROGRAM + " hosts"));
  ASSERT_TRUE(job.wait_for("ready"));
  auto invitation = tools::ask_for_invitation(name);
  ASSERT_TRUE(invitation.ok()) << invitation.error().message;
  Outcome outcome = send_in("--count 300", invitation.value().hub.port, invitation.value().secret);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(
      Launched(words(std::string(kTerrane) + " join " + name + " " + CHUNKS_PROGRAM + " stop"))
          .finish()
          .out,
      "good\n");
  Outcome end = job.finish();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(count(end.out, "good"), 2) << end.err;
}

}  // namespace
}  // namespace terrane::cluster_test
