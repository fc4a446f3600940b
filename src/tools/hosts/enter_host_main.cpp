// Runs a command in another test host, as ssh would: enter_host HOST COMMAND...
//
// The words are joined and given to /bin/sh in the home folder, with the environment of a login;
// the command goes on when this program is killed. With --here instead of ssh's ways, the command
// is run as it is, in this folder and with this environment, and is killed with this program.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tools/hosts/request.h"

namespace {

using namespace terrane;
using test_hosts::Request;

constexpr int kExitFailure = 255;  // ssh's

// Options of ssh that launchers give are taken and have no meaning here.
int skip_options(int argc, char** argv, Request& request) {
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    std::string word = argv[at];
    if (word == "--here") request.kind = Request::Kind::kRun;
    if (word == "-o" || word == "-p" || word == "-l") ++at;
  }
  return at;
}

// Outside of the hosts, their owner's socket is in the environment; inside, a keeper listens.
base::Result<int> ask(Request request) {
  if (const char* number = std::getenv("TERRANE_TEST_HOSTS")) {
    auto pair = test_hosts::make_socket_pair();
    if (!pair) return pair.error();
    int theirs = pair.value().theirs.get();
    auto sent = test_hosts::send_request(std::atoi(number), request, {0, 1, 2, theirs});
    if (!sent) return sent.error();
    ::close(std::atoi(number));
    pair.value().theirs.reset();
    return test_hosts::exit_code_of(test_hosts::receive_text(pair.value().ours.get(), -1));
  }
  auto keeper = test_hosts::connect_to_keeper();
  if (!keeper) return keeper.error();
  auto sent = test_hosts::send_request(keeper.value().get(), request, {0, 1, 2});
  if (!sent) return sent.error();
  return test_hosts::exit_code_of(test_hosts::receive_text(keeper.value().get(), -1));
}

void say(const std::string& sentence) {
  std::fprintf(stderr, "enter_host: %s\n", sentence.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Request request{.kind = Request::Kind::kRunByShell};
  int at = skip_options(argc, argv, request);
  if (argc - at < 2) {
    say("usage: enter_host [--here] HOST COMMAND...");
    return kExitFailure;
  }
  request.host = argv[at];
  request.words.assign(argv + at + 1, argv + argc);
  if (request.kind == Request::Kind::kRun) {
    std::error_code unknown;
    request.folder = std::filesystem::current_path(unknown).string();
    for (char** entry = environ; *entry; ++entry) {
      if (!std::string_view(*entry).starts_with("TERRANE_TEST_HOSTS=")) {
        request.environment.emplace_back(*entry);
      }
    }
  }
  auto code = ask(std::move(request));
  if (!code) say(code.error().message);
  return code ? code.value() : kExitFailure;
}
