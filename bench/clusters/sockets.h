#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"

// What the programs beside gateways have in common. Each of these ends the process where the
// operating system refuses, with one sentence: there is nothing to be measured then.
namespace terrane::bench {

// A port of all addresses; 0: any. Says on standard output, for the script that starts the next
// process, "port=N".
base::UniqueFd listen_on(std::uint16_t port);
base::UniqueFd accept_one(int listener);
// To "HOST:PORT".
base::UniqueFd dial(const std::string& address);

std::uint64_t now_ns();
// Returns as soon as it is `due_ns`: sleeps for the most of it, as a wake-up is late, and then
// polls.
void wait_until(std::uint64_t due_ns);
// How long before it is due a process wakes up to poll.
inline constexpr std::uint64_t kWakeUp_ns = 100'000;

// Of this process, user and system together.
double cpu_seconds();
[[noreturn]] void give_up(const std::string& what);

}  // namespace terrane::bench
