#include "afflicted_job.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/prng.h"

namespace terrane::faults {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using test_hosts::LinkState;
using test_hosts::Outcome;
using test_hosts::Process;

constexpr char kHeartbeat[] = "0.5";
constexpr int kVictimPatienceMs = 5000;  // until a process that is to be hit is there
constexpr int kGonePatienceMs = 5000;
constexpr std::uint32_t kLoginMs = 100;  // for a job to mind, if it does

void pause_ms(std::uint32_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

std::int64_t ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

bool is_front(const Process& process) {
  return process.words.size() > 1 && process.words[0].ends_with("/terrane") &&
         process.words[1] == "run";
}
bool is_engine(const Process& process) { return process.name == "job-engine"; }
bool is_guard(const Process& process) {
  return process.words.size() > 1 && process.words[1] == "host-engine";
}
bool is_login(const Process& process) {
  return process.name == "enter_host" && process.words.size() > 1 && process.words[1] != "--here";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool is_node(const Process& process) { return process.name == "fault_program"; }

std::string environment_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid));
  return '\0' + std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    found.push_back(entry.path().filename().string());
  }
  return found;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string placement(const Fault& fault) {
  if (fault.hosts == 1) return {};
  std::vector<std::uint32_t> slots(fault.hosts);
  for (std::uint32_t node = 0; node < kNodes; ++node) ++slots[fault.host_of(node)];
  std::string names;
  for (std::uint32_t host = 0; host < fault.hosts; ++host) {
    names +=
        fmt::format("{}{}:{}", host == 0 ? " -H " : ",", test_hosts::host_name(host), slots[host]);
  }
  return names;
}

// Ended by a signal where that is what the fault is; otherwise any failure will do.
int expected_code(Kind kind) {
  bool killed = kind == Kind::kKillNode || kind == Kind::kKillFront || kind == Kind::kKillEngine ||
                kind == Kind::kFullFolders;
  return killed ? 128 + SIGKILL : 0;
}

// What the one sentence has to say, as far as somebody is left to say it.
std::vector<std::string> expected_words(const Fault& fault) {
  std::string node = fmt::format("node {}", fault.victim);
  std::string host_of_node = test_hosts::host_name(fault.host_of(fault.victim));
  std::string host = test_hosts::host_name(fault.victim);
  switch (fault.kind) {
    case Kind::kKillNode:
    case Kind::kFullFolders:
      return {node, host_of_node, "SIGKILL"};
    case Kind::kStopNode:
    case Kind::kFilesShort:
    case Kind::kMemoryShort:
      return {node, host_of_node};
    case Kind::kKillFront:
      return {};
    case Kind::kKillLogin:
      return {fault.early ? std::string(" h") : fmt::format("node {}", kNodes - 1)};
    case Kind::kKillEngine:
    case Kind::kStopEngine:
      return {"engine"};
    case Kind::kCutLink:
    case Kind::kSilenceLink:
      return {fault.victim == 0 ? "h" : host};  // from h0, all others look the same
    default:
      return {host};
  }
}

}  // namespace

AfflictedJob::AfflictedJob(test_hosts::Hosts& hosts, const Fault& fault)
    : hosts_(hosts), fault_(fault) {}

std::vector<std::string> AfflictedJob::command() const {
  std::string line = fmt::format("{} run -n {} --heartbeat {} --start-timeout 3{}",
                                 cluster_test::kTerrane, kNodes, kHeartbeat, placement(fault_));
  std::vector<std::string> words = cluster_test::words(line);
  base::Prng chance(fault_.seed + 1);
  std::string limit, argument;
  if (fault_.kind == Kind::kFilesShort) limit = fmt::format("ulimit -n {}", 6 + chance.below(30));
  if (fault_.kind == Kind::kMemoryShort) {
    limit = fmt::format("export TERRANE_MEMORY={}M", 4 + chance.below(8));
    argument = " --grow";
  }
  if (limit.empty()) {
    words.emplace_back(FAULT_PROGRAM);
  } else {
    std::string script = fmt::format("[ $TERRANE_NODE = {} ] && {}; exec {}{}", fault_.victim,
                                     limit, FAULT_PROGRAM, argument);
    for (const char* word : {"sh", "-c", script.c_str()}) words.emplace_back(word);
  }
  return words;
}

void AfflictedJob::complain(const std::string& what) { verdict_.complaints.push_back(what); }

void AfflictedJob::prepare() {
  if (fault_.kind == Kind::kFullFolders) fill_folders(fault_.host_of(fault_.victim));
}

void AfflictedJob::fill_folders(std::uint32_t host) {
  const std::string block(1 << 16, 'x');
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    std::ofstream file(fmt::format("{}{}/full", hosts_.root(host), folder));
    while (file.write(block.data(), static_cast<std::streamsize>(block.size()))) continue;
  }
}

bool AfflictedJob::wait_for_moment(test_hosts::Launched& job) {
  if (!fault_.early && !job.wait_for("up\n")) {
    // Where something is short from the start, that may be seen before.
    if (fault_.kind != Kind::kFilesShort && fault_.kind != Kind::kMemoryShort) {
      complain("the job did not come up");
    }
    return false;
  }
  pause_ms(fault_.after_ms);
  return true;
}

bool AfflictedJob::hit(std::uint32_t host, int signal, bool (*is_victim)(const Process&)) {
  for (auto start = Clock::now(); ms_since(start) < kVictimPatienceMs; pause_ms(1)) {
    for (const Process& process : hosts_.processes(host)) {
      if (is_victim(process)) return ::kill(process.pid, signal) == 0;
    }
  }
  complain("nobody to inject the fault into");
  return false;
}

bool AfflictedJob::is_there(std::uint32_t host, bool (*is_wanted)(const Process&)) const {
  auto all = hosts_.processes(host);
  return std::any_of(all.begin(), all.end(), is_wanted);
}

bool AfflictedJob::kill_node(std::uint32_t node, int signal) const {
  std::string mark = fmt::format("{}TERRANE_NODE={}{}", '\0', node, '\0');
  for (const Process& process : hosts_.processes(fault_.host_of(node))) {
    if (is_node(process) && holds(environment_of(process.pid), mark)) {
      return ::kill(process.pid, signal) == 0;
    }
  }
  return false;
}

bool AfflictedJob::hit_node(std::uint32_t node, int signal) {
  for (auto start = Clock::now(); ms_since(start) < kVictimPatienceMs; pause_ms(1)) {
    if (kill_node(node, signal)) return true;
  }
  complain("the node to inject the fault into is not there");
  return false;
}

// The job goes on without its login, once the host's engine has come; and a node that dies then is
// still heard of. One that lost its login before may have ended.
bool AfflictedJob::hit_last_node_later() {
  pause_ms(kLoginMs);
  while (is_there(0, is_front)) {
    if (kill_node(kNodes - 1, SIGKILL)) return true;
    pause_ms(1);
  }
  return true;
}

bool AfflictedJob::inject() {
  switch (fault_.kind) {
    case Kind::kKillNode:
    case Kind::kFullFolders:
      return hit_node(fault_.victim, SIGKILL);
    case Kind::kStopNode:
      return hit_node(fault_.victim, SIGSTOP);
    case Kind::kKillFront:
      return hit(0, SIGKILL, is_front);
    case Kind::kKillEngine:
      return hit(0, SIGKILL, is_engine);
    case Kind::kStopEngine:
      return hit(0, SIGSTOP, is_engine);
    case Kind::kKillRemoteEngine:
      return hit(fault_.victim, SIGKILL, fault_.seed / kKinds % 2 == 0 ? is_engine : is_guard);
    case Kind::kStopRemoteEngine:
      return hit(fault_.victim, SIGSTOP, is_engine);
    case Kind::kKillLogin:
      return hit(0, SIGKILL, is_login) && hit_last_node_later();
    case Kind::kCutLink:
      return hosts_.set_link(fault_.victim, 0, LinkState::kNoCarrier).ok();
    case Kind::kSilenceLink:
      return hosts_.set_link(fault_.victim, 0, LinkState::kSilent).ok();
    case Kind::kHostDies:
      hosts_.kill_host(fault_.victim);
      return true;
    case Kind::kFilesShort:
    case Kind::kMemoryShort:
      return true;
  }
  return false;
}

Verdict AfflictedJob::meet_fault(const Launch& launch) {
  prepare();
  test_hosts::Launched job = launch(command());
  bool reached = wait_for_moment(job);
  auto start = Clock::now();
  if (reached) inject();
  // One that had descriptors enough runs on.
  if (reached && fault_.kind == Kind::kFilesShort) hit_node(fault_.victim, SIGKILL);
  Outcome outcome = job.finish();
  verdict_.exit_code = outcome.exit_code;
  verdict_.err = outcome.err;
  if (outcome.timed_out) complain("the job hangs");
  if (!everybody_gone()) complain("processes of the job are left");
  verdict_.ms = ms_since(start);
  check(outcome);
  clean_up();
  return verdict_;
}

bool AfflictedJob::everybody_gone() {
  for (auto start = Clock::now(); ms_since(start) < kGonePatienceMs; pause_ms(2)) {
    bool gone = true;
    for (std::uint32_t host = 0; host < hosts_.count(); ++host)
      gone = gone && hosts_.processes(host).empty();
    if (gone) return true;
  }
  return false;
}

void AfflictedJob::check(const Outcome& outcome) {
  int expected = expected_code(fault_.kind);
  if (fault_.early && outcome.exit_code == 128 + SIGABRT) expected = outcome.exit_code;
  if (outcome.exit_code == 0 || (expected != 0 && outcome.exit_code != expected)) {
    complain(fmt::format("exit code {} and not {}", outcome.exit_code, expected));
  }
  check_words(outcome);
  check_litter();
}

void AfflictedJob::check_words(const Outcome& outcome) {
  std::vector<std::string> words = expected_words(fault_);
  // UCX 1.13 aborts in a node that is connecting to one that dies; then that node is the first.
  if (fault_.early && holds(outcome.err, "SIGABRT")) words = {"node "};
  for (const std::string& word : words) {
    if (!holds(outcome.err, word)) complain(fmt::format("nobody says \"{}\"", word));
  }
  // A node that lacks something says so itself, before its death is reported; and nodes that wait
  // to join a job say why they cannot.
  bool speaks =
      fault_.early || fault_.kind == Kind::kFilesShort || fault_.kind == Kind::kMemoryShort;
  int sentences = count(outcome.err, "terrane: ");
  if (!words.empty() && sentences != 1 &&
      !(speaks && sentences > 1 && sentences <= 1 + int{kNodes})) {
    complain(fmt::format("{} sentences and not one", sentences));
  }
}

void AfflictedJob::check_litter() {
  for (std::uint32_t host = 0; host < hosts_.count(); ++host) {
    for (const char* folder : {"/dev/shm", "/tmp"}) {
      for (const std::string& name : files_below(hosts_.root(host) + folder)) {
        bool ours =
            name == "full" || fs::path(TEST_HOSTS_SOURCES).string().starts_with("/tmp/" + name);
        if (!ours)
          complain(fmt::format("{}/{} is left on {}", folder, name, test_hosts::host_name(host)));
      }
    }
  }
}

// The next job finds the hosts as this one did.
void AfflictedJob::clean_up() {
  for (std::uint32_t host = 0; host < hosts_.count(); ++host) {
    for (const Process& process : hosts_.processes(host)) {
      complain(fmt::format("left on {}: process {} ({}, {})", test_hosts::host_name(host),
                           process.pid, process.name, process.state));
      ::kill(process.pid, SIGKILL);
    }
    std::error_code ignored;
    for (const char* folder : {"/dev/shm", "/tmp"})
      fs::remove(fmt::format("{}{}/full", hosts_.root(host), folder), ignored);
  }
  everybody_gone();
  if (fault_.kind != Kind::kCutLink && fault_.kind != Kind::kSilenceLink) return;
  auto mended = hosts_.set_link(fault_.victim, 0, LinkState::kUp);
  if (!mended) complain(mended.error().message);
  wait_for_carrier();
}

void AfflictedJob::wait_for_carrier() {
  for (auto start = Clock::now(); ms_since(start) < kVictimPatienceMs; pause_ms(5)) {
    std::ifstream file(hosts_.root(fault_.victim) + "/sys/class/net/eth0/carrier");
    char carrier = '0';
    if (file >> carrier && carrier == '1') return;
  }
  complain("the mended link has no carrier");
}

}  // namespace terrane::faults
