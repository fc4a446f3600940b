// Chains of bare relays, beside which gateways are measured: chain.py starts the processes.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>

#include "clusters/ends.h"
#include "clusters/relay.h"
#include "clusters/sockets.h"

namespace {

using namespace terrane;

constexpr const char* kSecret = "00112233445566778899aabbccddeeff";  // hides nothing here

stream::TlsKey key() {
  return stream::TlsKey::derive(*stream::Secret::parse(kSecret), "relay").value();
}

// What a session of TLS alone costs, between buffers: seconds of the processor a gigabyte.
void measure_tls() {
  stream::TlsKey shared = key();
  stream::TlsSession one(shared, stream::TlsRole::kClient), two(shared, stream::TlsRole::kServer);
  std::vector<std::byte> plain(std::size_t{128} << 10), got(plain.size());
  for (auto* sides : {&one, &two, &one}) {
    auto& other = sides == &one ? two : one;
    other.take(sides->out(), got);
    sides->sent(sides->out().size());
  }
  constexpr std::uint64_t kBytes = std::uint64_t{4} << 30;
  std::uint64_t sending = 0, receiving = 0;
  for (std::uint64_t size = 0; size < kBytes; size += plain.size()) {
    std::uint64_t begin = bench::now_ns();
    one.write(plain);
    std::uint64_t middle = bench::now_ns();
    if (two.take(one.out(), got).plain != plain.size()) bench::give_up("TLS lost bytes");
    one.sent(one.out().size());
    sending += middle - begin;
    receiving += bench::now_ns() - middle;
  }
  fmt::print("tls_send_gbs={:.2f}\ntls_receive_gbs={:.2f}\n",
             static_cast<double>(kBytes) / static_cast<double>(sending),
             static_cast<double>(kBytes) / static_cast<double>(receiving));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Chains of bare relays, and their two ends");
  app.require_subcommand(1);
  bench::RelayOptions relay;
  bench::EndOptions end;
  double delay_us = 0;
  bool tls = false, before = false;
  auto* as_relay = app.add_subcommand("relay", "carry streams");
  as_relay->add_option("--to", relay.to, "HOST:PORT")->required();
  as_relay->add_option("--port", relay.port, "to listen on; 0: any");
  as_relay->add_option("--streams", relay.streams, "end after so many have ended");
  as_relay->add_flag("--tls", tls, "TLS on the link");
  as_relay->add_flag("--link-before", before, "the link is on the side of those who connect");
  auto* as_server = app.add_subcommand("server", "answer one client");
  as_server->add_option("--port", end.port, "to listen on; 0: any");
  auto* as_client = app.add_subcommand("client", "ask and measure");
  as_client->add_option("--to", end.to, "HOST:PORT")->required();
  as_client->add_option("--rounds", end.rounds, "reads, one after the other");
  as_client->add_option("--page-rounds", end.page_rounds, "64 reads at once");
  as_client->add_option("--bulk", end.bulk_bytes, "bytes in each direction");
  for (auto* each : {as_relay, as_server, as_client}) {
    each->add_option("--delay", delay_us, "us that what is sent over the link is held back");
  }
  auto* as_tls = app.add_subcommand("tls", "measure a session of TLS alone");
  CLI11_PARSE(app, argc, argv);

  ::prctl(PR_SET_TIMERSLACK, 1);
  relay.delay_ns = end.delay_ns = static_cast<std::uint64_t>(delay_us * 1000);
  relay.link_is_behind = !before;
  if (tls) relay.key = key();
  if (*as_relay) bench::run_relay(relay);
  if (*as_server) bench::run_server(end);
  if (*as_client) bench::run_client(end);
  if (*as_tls) measure_tls();
  fmt::print("cpu_s={:.4f}\n", bench::cpu_seconds());
  return 0;
}
