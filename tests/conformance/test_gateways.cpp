#include "test_gateways.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "forked_nodes.h"
#include "tools/gateway/entrance.h"
#include "tools/gateway/ports.h"
#include "tools/launch/gateways/gateway_address.h"
#include "transport/routed/hello.h"

namespace terrane::conformance {
namespace {

constexpr std::uint64_t kWindow = 256 * 1024;
constexpr const char* kNames[] = {"west", "east"};

stream::Credentials credentials_of(const stream::Secret& secret, bool encrypt,
                                   const char* purpose) {
  stream::Credentials credentials{secret};
  if (!encrypt) return credentials;
  auto key = stream::TlsKey::derive(secret, purpose);
  require(key.ok(), "a key for TLS");
  credentials.key = std::move(key).value();
  return credentials;
}

// One gateway without a hub.
class Gateway {
 public:
  Gateway(tools::Loop& loop, const char* name, const stream::Credentials& credentials)
      : name_(name),
        ports_(loop, routing::Router(tools::gateway_address(name), {kWindow}), 0,
               {.on_link = [](const std::string&) {},
                .on_unlink = [](const std::string&, const std::string&) {}}),
        entrance_(loop, credentials, [this](auto guest, const auto& theirs) {
          transport::routed::append_hello(hello(), guest->outgoing());
          guest->flush();
          ports_.add(std::move(guest), theirs);
        }) {
    require(entrance_.open({}).ok(), "a port to listen on");
  }

  transport::routed::Hello hello() const {
    return transport::routed::hello_of(tools::gateway_address(name_), kWindow, name_);
  }
  tools::Ports& ports() { return ports_; }
  std::uint16_t port() const { return entrance_.port(); }

 private:
  const char* name_;
  tools::Ports ports_;
  tools::Entrance entrance_;
};

// By TLS, as between gateways of a job.
void link(Gateway& first, Gateway& second, const stream::Secret& secret) {
  int pair[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0,
          "a socket pair");
  auto credentials = credentials_of(secret, true, "link");
  using stream::Connection;
  auto dialer =
      std::make_unique<Connection>(base::UniqueFd(pair[0]), Connection::Side::kDialer, credentials);
  auto listener = std::make_unique<Connection>(base::UniqueFd(pair[1]), Connection::Side::kListener,
                                               credentials);
  while (dialer->state() != Connection::State::kOpen ||
         listener->state() != Connection::State::kOpen) {
    for (Connection* one : {dialer.get(), listener.get()}) {
      one->flush();
      one->receive();
      require(one->state() != Connection::State::kClosed, "a link between the gateways");
    }
  }
  first.ports().add(std::move(dialer), second.hello());
  second.ports().add(std::move(listener), first.hello());
}

[[noreturn]] void serve(const stream::Secret& secret, bool encrypt, int tell) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  auto loop = tools::Loop::create();
  require(loop.ok(), "a loop");
  auto credentials = credentials_of(secret, encrypt, "gateway");
  Gateway west(*loop.value(), kNames[0], credentials), east(*loop.value(), kNames[1], credentials);
  link(west, east, secret);
  std::uint16_t ports[] = {west.port(), east.port()};
  require(::write(tell, ports, sizeof ports) == sizeof ports, "the ports are told");
  for (;;) loop.value()->turn();
}

stream::Secret make_secret() {
  auto secret = stream::Secret::random();
  require(secret.ok(), "a secret");
  return secret.value();
}

}  // namespace

TestGateways::TestGateways(bool encrypt) : encrypt_(encrypt), secret_(make_secret()) {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0, "a pipe");
  process_ = ::fork();
  require(process_ >= 0, "a process for the gateways");
  if (process_ == 0) serve(secret_, encrypt_, ends[1]);
  ::close(ends[1]);
  require(::read(ends[0], ports_, sizeof ports_) == sizeof ports_, "the gateways' ports");
  ::close(ends[0]);
}

TestGateways::~TestGateways() { kill(); }

void TestGateways::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

transport::Routes TestGateways::routes_of(NodeId node) const {
  return {.gateways = {{{"127.0.0.1"}, ports_[node.value % 2]}},
          .secret = secret_,
          .window = kWindow,
          .encrypt = encrypt_};
}

}  // namespace terrane::conformance
