#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stream/secret.h"
#include "tools/launch/host/agent_command.h"
#include "tools/launch/local_door.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// All that somebody needs to join a running job: where its hub is, and the job's secret.
struct Invitation {
  std::string job;
  HubAddress hub;
  stream::Secret secret;
  std::uint64_t heartbeat_ms = 0;

  // One line, without its end.
  std::string text() const;
  static std::optional<Invitation> parse(std::string_view line);
};

// Where a job gives its invitation to programs of the same user on the same host (local_door.h).
// Owns the socket.
class InvitationDoor {
 public:
  // `job`: its name, of letters, digits, '-', '_' and '.'.
  InvitationDoor(Loop& loop, Invitation invitation)
      : loop_(loop), invitation_(std::move(invitation)) {}
  ~InvitationDoor() { close(); }
  InvitationDoor(const InvitationDoor&) = delete;

  // An error where another job of this user has that name.
  base::Result<> open();
  void close();

 private:
  void answer_all();

  Loop& loop_;
  Invitation invitation_;
  base::UniqueFd listener_;
};

// Asks the job of that name for its invitation. Blocks for 5 s at most. The error says that there
// is no such job here, with those that there are, or whose it is.
base::Result<Invitation> ask_for_invitation(const std::string& job);

// The names of the jobs of all users on this host that take guests.
std::vector<std::string> jobs_here();

}  // namespace terrane::tools
