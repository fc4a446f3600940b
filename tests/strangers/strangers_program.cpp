// Many bad connections to a port of a job, and good ones in between: how many were refused.
//
//   strangers --to ADDRESS --port N --secret HEX [--derive PURPOSE] [--tls PURPOSE] [--count N]
//             [--at-once N] [--patience MS] [--good-every N] [--seed S]
//
// Says for each kind how many were refused, left by themselves or let in. Exit status 0: nobody was
// let in but the good ones, all of them were, and the port has closed all that was said wrongly.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>

#include "strangers/stranger.h"

namespace {

using namespace terrane;
using namespace terrane::strangers;

constexpr std::uint32_t kTries = 20;  // of a good one, on average

struct Options {
  std::string address = "127.0.0.1", secret, derive, purpose;
  std::uint16_t port = 0;
  std::uint32_t count = 1000, at_once = 64, good_every = 100;
  std::uint64_t patience_ms = 1000, seed = 1;
};

struct Count {
  std::uint32_t tried = 0, refused = 0, left = 0, let_in = 0;
};

class Crowd {
 public:
  Crowd(const Options& options, Scene scene)
      : options_(options), scene_(std::move(scene)), random_(options.seed) {}

  bool run() {
    try_one(Kind::kGood);
    while (!here_.empty()) turn();
    if (count_of(Kind::kGood).let_in == 0) return report();  // there is nothing to replay
    for (sent_ = 0; sent_ < options_.count || !here_.empty();) {
      while (here_.size() + 2 <= options_.at_once && sent_ < options_.count) send_next();
      turn();
    }
    return report();
  }

 private:
  void send_next() {
    if (sent_++ % options_.good_every == 0) try_one(Kind::kGood);
    try_one(static_cast<Kind>(random_.below(kKinds - 1)));
  }

  void try_one(Kind kind) {
    ++count_of(kind).tried;
    send_in(kind);
  }

  void send_in(Kind kind) {
    base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.port);
    ::inet_pton(AF_INET, options_.address.c_str(), &address.sin_addr);
    int done = ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    if (done < 0 && errno != EINPROGRESS) {
      fmt::print(stderr, "strangers: cannot connect: {}\n", std::strerror(errno));
      std::_Exit(2);
    }
    here_.emplace_back(kind, std::move(socket), scene_, random_);
  }

  void turn() {
    std::vector<pollfd> ready;
    std::uint64_t now = now_ms(), wake = now + 1000;
    for (const Stranger& one : here_) {
      ready.push_back({one.socket(), one.wants(), 0});
      wake = std::min(wake, one.wake_ms());
    }
    ::poll(ready.data(), ready.size(), static_cast<int>(wake > now ? wake - now : 0));
    now = now_ms();
    std::size_t at = 0;
    for (auto one = here_.begin(); one != here_.end(); ++at) {
      End end = one->advance(ready[at].revents, now);
      if (end == End::kLetIn && one->kind() == Kind::kGood) scene_.recording = one->said();
      Count& count = count_of(one->kind());
      count.refused += end == End::kRefused ? 1 : 0;
      count.left += end == End::kLeft ? 1 : 0;
      count.let_in += end == End::kLetIn ? 1 : 0;
      // As an engine does: in a crowd the port may need its place for a newer one.
      bool again = end != End::kNone && end != End::kLetIn && one->kind() == Kind::kGood &&
                   count.refused + count.left < kTries * count.tried;
      one = end == End::kNone ? std::next(one) : here_.erase(one);
      if (again) send_in(Kind::kGood);
    }
  }

  bool report() {
    bool all_well = true;
    for (int number = 0; number < kKinds; ++number) {
      auto kind = static_cast<Kind>(number);
      const Count& count = count_of(kind);
      fmt::print("{:<15} tried {:6} refused {:6} left {:6} let in {:6}\n", name_of(kind),
                 count.tried, count.refused, count.left, count.let_in);
      bool may_leave = kind == Kind::kHalfOpen || kind == Kind::kClosedAtOnce;
      bool well = kind == Kind::kGood ? count.let_in == count.tried
                                      : count.let_in == 0 && (may_leave || count.left == 0);
      all_well = all_well && well;
    }
    return all_well;
  }

  Count& count_of(Kind kind) { return counts_[static_cast<std::size_t>(kind)]; }

  const Options& options_;
  Scene scene_;
  base::Prng random_;
  std::list<Stranger> here_;
  std::array<Count, kKinds> counts_;
  std::uint32_t sent_ = 0;
};

// Differs from the right one in one bit.
stream::Secret almost(const stream::Secret& right) {
  std::string text = right.hex();
  text.back() = text.back() == '0' ? '1' : '0';
  return *stream::Secret::parse(text);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Bad connections to a port of a job, and good ones in between");
  app.add_option("--to", options.address, "address (default 127.0.0.1)");
  app.add_option("--port", options.port, "port")->required();
  app.add_option("--secret", options.secret, "the job's")->required();
  app.add_option("--derive", options.derive, "the port's secret is one of this purpose");
  app.add_option("--tls", options.purpose, "the port speaks TLS with a key of this purpose");
  app.add_option("--count", options.count, "bad connections");
  app.add_option("--at-once", options.at_once, "at most")->check(CLI::Range(1, 1000));
  app.add_option("--patience", options.patience_ms, "ms that one waits that is half open");
  app.add_option("--good-every", options.good_every, "a good one among so many")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", options.seed, "of what is drawn");
  CLI11_PARSE(app, argc, argv);
  auto secret = stream::Secret::parse(options.secret);
  if (!secret) {
    fmt::print(stderr, "strangers: --secret: 32 hexadecimal digits are a secret\n");
    return 2;
  }
  if (!options.derive.empty()) secret = secret->derive(options.derive);
  Language language{.is_tls = !options.purpose.empty(), .purpose = options.purpose};
  Scene scene{language, *secret, almost(*secret), options.patience_ms, {}};
  return Crowd(options, std::move(scene)).run() ? 0 : 1;
}
