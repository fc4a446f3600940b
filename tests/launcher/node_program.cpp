// The program that the cluster tests run as nodes. Its arguments are done one after the other;
// after "@N" only node N does the rest of them up to the next "@" word ("@all": everyone again).
// See kActions.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "bootstrap/message.h"

namespace {

using terrane::bootstrap::Bootstrap;
using terrane::bootstrap::Contribution;

constexpr int kExitJoinFailed = 30;
constexpr int kExitExchangeFailed = 31;
constexpr int kExitWrongCard = 32;

struct Program {
  std::unique_ptr<Bootstrap> job;
  std::uint32_t node = 0;
  int spare_place = -1;  // a second descriptor of the inherited socket, for `rival`
};

using Parameters = std::vector<std::string>;

void say(const std::string& text) {
  std::string line = text + "\n";
  [[maybe_unused]] auto ignored = ::write(STDOUT_FILENO, line.data(), line.size());
}

int number(const Parameters& p, std::size_t at) { return std::atoi(p.at(at).c_str()); }

void join(Program& program, const Parameters&) {
  if (const char* fd = std::getenv(terrane::bootstrap::kSocketVariable)) {
    program.spare_place = ::dup(std::atoi(fd));
  }
  auto job = Bootstrap::connect();
  if (!job) {
    say("join failed: " + job.error().message);
    std::exit(kExitJoinFailed);
  }
  program.job = std::move(job).value();
  program.node = program.job->self().value;
}

std::byte card_byte(std::uint32_t node, std::size_t at) {
  return static_cast<std::byte>(node * 31 + at * 7 + 1);
}

int card_file(std::uint32_t node, std::uint32_t number) {
  int fd = ::memfd_create("card", MFD_CLOEXEC);
  std::uint32_t content[2] = {node, number};
  if (::write(fd, content, sizeof content) != sizeof content) std::exit(kExitWrongCard);
  return fd;
}

bool card_is_right(const Contribution& card, std::uint32_t node, std::size_t bytes,
                   std::size_t fds) {
  if (card.bytes.size() != bytes || card.fds.size() != fds) return false;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (card.bytes[i] != card_byte(node, i)) return false;
  }
  for (std::uint32_t i = 0; i < fds; ++i) {
    std::uint32_t content[2] = {};
    bool read = ::pread(card.fds[i], content, sizeof content, 0) == sizeof content;
    if (!read || content[0] != node || content[1] != i) return false;
  }
  return true;
}

// exchange:BYTES:FDS
void exchange(Program& program, const Parameters& p) {
  auto size = static_cast<std::size_t>(number(p, 1));
  auto count = static_cast<std::uint32_t>(number(p, 2));
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = card_byte(program.node, i);
  std::vector<int> fds;
  for (std::uint32_t i = 0; i < count; ++i) fds.push_back(card_file(program.node, i));
  auto cards = program.job->exchange(bytes, fds);
  if (!cards) {
    say("exchange failed: " + cards.error().message);
    ::_exit(kExitExchangeFailed);
  }
  for (int fd : fds) ::close(fd);
  for (std::uint32_t node = 0; node < program.job->nodes(); ++node) {
    Contribution& card = cards.value()[node];
    auto hosts = program.job->hosts();
    std::uint32_t expected = hosts[node] == hosts[program.node] ? count : 0;
    if (!card_is_right(card, node, size, expected)) {
      say("the card of node " + std::to_string(node) + " is wrong");
      ::_exit(kExitWrongCard);
    }
    for (int fd : card.fds) ::close(fd);
  }
}

void hang(Program&, const Parameters&) {
  for (;;) ::pause();
}

void spin(Program&, const Parameters&) {
  for (;;) ::getppid();  // a loop without effects may be taken to end
}

void print(Program& program,
           const Parameters& p) {  // print:LINES:LENGTH, every line whole in one write or not
  std::string line(static_cast<std::size_t>(number(p, 2)), static_cast<char>('a' + program.node));
  for (int i = 0; i < number(p, 1); ++i) std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void echo(Program&, const Parameters&) {
  char text[4096];
  ssize_t got;
  while ((got = ::read(STDIN_FILENO, text, sizeof text)) > 0) {
    [[maybe_unused]] auto ignored = ::write(STDOUT_FILENO, text, static_cast<std::size_t>(got));
  }
  say("end of input");
}

// Says every signal that comes, until SIGTERM.
void signals(Program&, const Parameters&) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigdelset(&all, SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  say("ready");
  for (int signal = 0; signal != SIGTERM;) {
    ::sigwait(&all, &signal);
    say(std::string("got SIG") + ::sigabbrev_np(signal));
  }
}

void daemon(Program&,
            const Parameters&) {  // a process that leaves its parent, its group and its session
  if (::fork() != 0) {
    ::wait(nullptr);
    return;
  }
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  ::signal(SIGTERM, SIG_IGN);
  for (;;) ::pause();
}

void child(Program&, const Parameters&) {
  if (::fork() == 0) {
    for (;;) ::pause();
  }
}

void news(Program& program, const Parameters&) {
  pollfd fd{program.job->news_fd(), POLLIN, 0};
  ::poll(&fd, 1, -1);
  auto death = program.job->take_news();
  say(death ? "news of node " + std::to_string(death->node.value) + ": " + death->why : "news");
}

// Another process that claims our place.
void rival(Program& program, const Parameters&) {
  if (::fork() == 0) {
    ::setenv(terrane::bootstrap::kSocketVariable, std::to_string(program.spare_place).c_str(), 1);
    auto job = Bootstrap::connect();
    say(job ? "the rival joined" : "rival: " + job.error().message);
    ::_exit(0);
  }
  ::wait(nullptr);
}

void show(Program& program, const Parameters& p) {
  if (p.at(1) == "environment") {
    std::string all;
    for (char** entry = environ; *entry; ++entry) {
      if (std::strncmp(*entry, "TERRANE_", 8) == 0) all += std::string(*entry) + " ";
    }
    say("environment: " + all);
  } else if (p.at(1) == "place") {
    say("node " + std::to_string(program.node) + " of " + std::to_string(program.job->nodes()) +
        ", on host " + std::to_string(program.job->nodes_on_host()) + ", news " +
        (program.job->news_fd() >= 0 ? "yes" : "no"));
  } else if (p.at(1) == "clusters") {
    std::string numbers;
    for (std::uint32_t cluster : program.job->clusters())
      numbers.append(" ").append(std::to_string(cluster));
    say("clusters:" + numbers);
  } else if (p.at(1) == "hosts") {
    std::string numbers, names;
    for (std::uint32_t node = 0; node < program.job->nodes(); ++node) {
      numbers.append(" ").append(std::to_string(program.job->hosts()[node]));
      names.append(" ").append(program.job->host_name(terrane::NodeId{node}));
    }
    say("hosts" + numbers + ":" + names);
  } else if (p.at(1) == "cpus") {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    say("cpus " + std::to_string(CPU_COUNT(&set)));
  } else if (p.at(1) == "files") {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    say(limit.rlim_cur == limit.rlim_max ? "files raised" : "files as they were");
  }
}

struct Action {
  const char* name;
  void (*act)(Program&, const Parameters&);
};

constexpr Action kActions[] = {
    {"join", join},
    {"exchange", exchange},
    {"leave",
     [](Program& program, const Parameters&) {
       program.job->leaving(terrane::bootstrap::Departure::kWithAll);
     }},
    {"fail",
     [](Program& program, const Parameters& p) { program.job->fail(p.at(2), number(p, 1)); }},
    {"exit", [](Program&, const Parameters& p) { ::_exit(number(p, 1)); }},
    {"kill",
     [](Program&, const Parameters& p) {
       ::signal(number(p, 1), SIG_DFL);  // sanitizers catch what kills
       ::raise(number(p, 1));
     }},
    {"sleep",
     [](Program&, const Parameters& p) { ::usleep(static_cast<unsigned>(number(p, 1)) * 1000); }},
    {"ignore", [](Program&, const Parameters& p) { ::signal(number(p, 1), SIG_IGN); }},
    {"say", [](Program&, const Parameters& p) { say(p.at(1)); }},
    {"mutter",
     [](Program&, const Parameters& p) {
       [[maybe_unused]] auto ignored = ::write(STDERR_FILENO, p.at(1).data(), p.at(1).size());
     }},
    {"hang", hang},
    {"spin", spin},
    {"print", print},
    {"echo", echo},
    {"signals", signals},
    {"daemon", daemon},
    {"child", child},
    {"news", news},
    {"rival", rival},
    {"show", show},
};

Parameters split(const std::string& word) {
  Parameters parts;
  std::istringstream text(word);
  for (std::string part; std::getline(text, part, ':');) parts.push_back(part);
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  Program program;
  for (const char* name : {"PMIX_RANK", terrane::bootstrap::kNodeVariable}) {
    if (const char* node = std::getenv(name)) {
      program.node = static_cast<std::uint32_t>(std::atoi(node));
    }
  }
  bool mine = true;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '@') {
      mine = std::strcmp(argv[i], "@all") == 0 ||
             static_cast<std::uint32_t>(std::atoi(argv[i] + 1)) == program.node;
      continue;
    }
    if (!mine) continue;
    Parameters parameters = split(argv[i]);
    bool known = false;
    for (const Action& action : kActions) {
      if (parameters.at(0) != action.name) continue;
      known = true;
      action.act(program, parameters);
    }
    if (!known) {
      std::fprintf(stderr, "no action %s\n", argv[i]);
      return 2;
    }
  }
  return 0;
}
