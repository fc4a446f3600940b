#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace terrane::test_hosts {

using base::UniqueFd;

// What a client asks of the test hosts: run a command in one of them, or change a link.
struct Request {
  enum class Kind : char {
    kRun = 'r',  // words: the command; its caller's folder and environment; ends with its caller
    kRunByShell =
        's',      // as ssh does: words joined for /bin/sh, in the home folder, a clean environment
    kLink = 'l',  // words: the number of the link, the letter of a LinkState
    kCrossing = 'c',  // words: two clusters, the letter of a LinkState
  };
  Kind kind = Kind::kRun;
  std::string host;  // h0, h1, ...
  std::string folder;
  std::vector<std::string> words;
  std::vector<std::string> environment;  // NAME=VALUE
};

// Descriptors that come with a request: standard input, output and error (kRun, kRunByShell), and
// last the socket that the answer goes to: "exit CODE", or a sentence that says what is wrong.
struct Message {
  Request request;
  std::vector<UniqueFd> fds;
};

// The name in each host's network namespace under which its keeper takes requests: an abstract
// address, so that nothing is in the file system.
constexpr std::string_view kKeeperName = "terrane-test-hosts";

base::Result<> send_request(int socket, const Request& request, const std::vector<int>& fds);

// Waits for a request. An error with an empty sentence: the other end has gone.
base::Result<Message> receive_request(int socket);

// One packet of text, for answers and for the talk between the switch and its keepers.
void send_text(int socket, std::string_view text);
// Empty: the other end has gone, or `timeout_ms` have passed.
std::string receive_text(int socket, int timeout_ms);

// The exit code that an answer tells, or the sentence.
base::Result<int> exit_code_of(const std::string& answer);

// A request to the keeper of the host that this process runs in, which passes it on to any other.
base::Result<UniqueFd> connect_to_keeper();

struct SocketPair {
  UniqueFd ours, theirs;
};
base::Result<SocketPair> make_socket_pair();

}  // namespace terrane::test_hosts
