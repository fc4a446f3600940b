#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

// Where a job listens for programs of the same user on the same host: sockets whose names are in no
// folder and go with the process. The kernel knows the other end's user. A door's name is its kind
// ("terrane-job-") and the job's.
namespace terrane::tools {

// `type`: SOCK_SEQPACKET, SOCK_STREAM. Empty, with errno, where that cannot be (EADDRINUSE: another
// process has that door). The socket does not block.
base::UniqueFd open_local_door(std::string_view kind, const std::string& job, int type);

// The next visitor of the door that is of this user; others are sent away. Empty: none waits. The
// socket does not block.
base::UniqueFd admit_at_local_door(int door);

// A connection to the door, or empty, with errno. It blocks, for 5 s at most when it is read.
base::UniqueFd knock_at_local_door(std::string_view kind, const std::string& job, int type);

// Of the other end of a connection.
uid_t user_of(int socket);

// The names of the jobs of all users on this host that have a door of that kind, in order.
std::vector<std::string> local_doors(std::string_view kind);

// What a job may be called: letters, digits, '-', '_' and '.'.
bool is_job_name(std::string_view name);

}  // namespace terrane::tools
