#include "tools/hosts/hosts.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace terrane::test_hosts {
namespace {

using base::errno_error;
using base::error;
using base::Result;

constexpr int kPatienceMs = 30'000;

std::string read_file(const std::string& path) {
  std::string text;
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char part[4096];
  for (ssize_t got; file && (got = ::read(file.get(), part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  return text;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::istringstream text(read_file(fmt::format("/proc/{0}/task/{0}/children", pid)));
  return {std::istream_iterator<pid_t>(text), {}};
}

std::string process_namespace(const std::string& pid) {
  char name[64] = {};
  std::string path = "/proc/" + pid + "/ns/pid";
  return ::readlink(path.c_str(), name, sizeof name - 1) < 0 ? std::string() : name;
}

Process describe(const std::string& pid) {
  Process process{.pid = static_cast<pid_t>(std::stol(pid))};
  std::string stat = read_file("/proc/" + pid + "/stat");
  std::size_t begin = stat.find('('), end = stat.rfind(')');
  if (begin != std::string::npos && end != std::string::npos) {
    process.name = stat.substr(begin + 1, end - begin - 1);
    std::istringstream rest(stat.substr(end + 1));
    rest >> process.state >> process.parent;
  }
  std::istringstream line(read_file("/proc/" + pid + "/cmdline"));
  for (std::string word; std::getline(line, word, '\0');) process.words.push_back(word);
  return process;
}

std::vector<std::string> arguments(const HostOptions& options, const std::string& program,
                                   int control) {
  std::vector<std::string> all{
      program,
      "--control",
      std::to_string(control),
      options.clusters.empty() ? "--hosts" : "--clusters",
      options.clusters.empty() ? std::to_string(options.hosts) : options.clusters,
      "--links",
      std::to_string(options.links),
      "--shm",
      options.shm_size,
      "--tmp",
      options.tmp_size};
  if (!options.rate.empty()) all.insert(all.end(), {"--rate", options.rate});
  if (!options.link_rate.empty()) all.insert(all.end(), {"--link-rate", options.link_rate});
  if (options.isolate != 0) all.insert(all.end(), {"--isolate", std::to_string(options.isolate)});
  if (!options.memory_size.empty()) all.insert(all.end(), {"--memory", options.memory_size});
  if (options.swap) all.emplace_back("--swap");
  for (const std::string& folder : options.shared) all.insert(all.end(), {"--share", folder});
  return all;
}

Result<pid_t> spawn(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t pid = 0;
  int failed = ::posix_spawn(&pid, pointers[0], nullptr, nullptr, pointers.data(), environ);
  if (failed != 0) return error("cannot run {}: {}", words[0], std::strerror(failed));
  return pid;
}

}  // namespace

Result<Hosts> Hosts::make(const HostOptions& options, const std::string& program) {
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  // Another thread's child may inherit it too: that harms nobody, as the switch has its own ends.
  int theirs = pair.value().theirs.get();
  ::fcntl(theirs, F_SETFD, 0);
  auto pid = spawn(arguments(options, program, theirs));
  pair.value().theirs.reset();
  if (!pid) return pid.error();
  Hosts hosts(pid.value(), std::move(pair.value().ours));
  std::string said = receive_text(hosts.control_.get(), kPatienceMs);
  if (said.empty()) return error("{} ended before the test hosts were there", program);
  if (said != "ready") return base::Error{said};
  if (auto found = hosts.find_keepers(); !found) return found.error();
  return hosts;
}

Result<> Hosts::find_keepers() {
  std::vector<pid_t> switches = children_of(program_);
  if (switches.size() == 1) keepers_ = children_of(switches[0]);
  if (keepers_.empty()) return error("cannot find the test hosts' processes in /proc");
  return {};
}

Hosts::~Hosts() {
  if (!control_) return;
  control_.reset();
  // The switch ends at once, and the kernel ends all others with it.
  for (pid_t one : children_of(program_)) ::kill(one, SIGKILL);
  ::waitpid(program_, nullptr, 0);
}

Result<int> Hosts::run(std::uint32_t host, const std::vector<std::string>& words,
                       const std::vector<std::string>& environment,
                       const std::string& folder) const {
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  Request request{
      .host = host_name(host), .folder = folder, .words = words, .environment = environment};
  auto sent = send_request(control_.get(), request, {0, 1, 2, pair.value().theirs.get()});
  if (!sent) return sent.error();
  pair.value().theirs.reset();
  return exit_code_of(receive_text(pair.value().ours.get(), -1));
}

Result<> Hosts::set_link(std::uint32_t host, std::uint32_t link, LinkState state) const {
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  Request request{.kind = Request::Kind::kLink,
                  .host = host_name(host),
                  .words = {std::to_string(link), std::string(1, static_cast<char>(state))}};
  auto sent = send_request(control_.get(), request, {pair.value().theirs.get()});
  if (!sent) return sent.error();
  pair.value().theirs.reset();
  auto code = exit_code_of(receive_text(pair.value().ours.get(), kPatienceMs));
  if (!code) return code.error();
  return {};
}

Result<> Hosts::set_crossing(std::uint32_t from, std::uint32_t to, LinkState state) const {
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  Request request{.kind = Request::Kind::kCrossing,
                  .host = host_name(0),
                  .words = {std::to_string(from), std::to_string(to),
                            std::string(1, static_cast<char>(state))}};
  auto sent = send_request(control_.get(), request, {pair.value().theirs.get()});
  if (!sent) return sent.error();
  pair.value().theirs.reset();
  auto code = exit_code_of(receive_text(pair.value().ours.get(), kPatienceMs));
  if (!code) return code.error();
  return {};
}

void Hosts::kill_host(std::uint32_t host) const { ::kill(keepers_[host], SIGKILL); }

std::vector<Process> Hosts::processes(std::uint32_t host) const {
  std::vector<Process> found;
  std::string ours = process_namespace(std::to_string(keepers_[host]));
  if (ours.empty()) return found;  // the host is down
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = folder ? ::readdir(folder) : nullptr) {
    std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (std::stol(pid) == keepers_[host] || process_namespace(pid) != ours) continue;
    found.push_back(describe(pid));
  }
  if (folder) ::closedir(folder);
  return found;
}

std::string Hosts::root(std::uint32_t host) const {
  return fmt::format("/proc/{}/root", keepers_[host]);
}

}  // namespace terrane::test_hosts
