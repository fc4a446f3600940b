// A program that does not fit into a running job of chunks. Made twice (CMakeLists.txt): as another
// version of Terrane, and for another architecture.
//   misfit node                 a node of the job that it is started in
//   misfit join JOB PROGRAM     as `terrane join`
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/log.h"
#include "runtime/chunks/chunk_node.h"
#include "tools/launch/guests/invitation.h"
#include "tools/launch/host/host_engine.h"

#ifdef MISFIT_ARCHITECTURE
extern "C" int uname(utsname* system) noexcept {
  long status = ::syscall(SYS_uname, system);
  std::strcpy(system->machine, MISFIT_ARCHITECTURE);
  return static_cast<int>(status);
}
#endif

namespace {

using namespace terrane;

int be_a_node() {
  auto node = runtime::chunks::ChunkNode::join();
  if (node) std::puts("has joined");
  if (!node) std::printf("not joined: %s\n", node.error().message.c_str());
  return node ? 0 : 3;
}

int join(const char* job, char** program, std::span<char*> command_line) {
  auto invitation = tools::ask_for_invitation(job);
  if (!invitation) return 2;
  tools::GuestProgram guest{program[0], {program[0], program[1]}};
  tools::HostEngineOptions engine{.hub_addresses = invitation.value().hub.addresses,
                                  .port = invitation.value().hub.port,
                                  .heartbeat_ms = invitation.value().heartbeat_ms,
                                  .command_line = command_line};
  return tools::run_guest_engine(engine, invitation.value().secret, guest);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 5 && std::string_view(arguments[1]) == "join")
    return join(arguments[2], arguments + 3, {arguments, static_cast<std::size_t>(count)});
  return be_a_node();
}
