#include "runtime/trace/event_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "platform/quiet_thread.h"
#include "platform/wait.h"

namespace terrane::runtime::trace {
namespace {

constexpr std::size_t kLongestCommand = 4096;
constexpr auto kStreamEvery = std::chrono::milliseconds(100);

std::atomic<std::uint64_t> last_serial{0};

// The thread's variables have been destroyed: it runs handlers of exit, which may note more.
constinit thread_local bool thread_ends = false;

std::uint64_t realtime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

FileHeader header_of(const EventLog::Place& place) {
  FileHeader header;
  header.node = place.node.value;
  header.nodes = place.nodes;
  header.monotonic_ns = platform::now_ns();
  header.realtime_ns = realtime_ns();
  std::memcpy(header.host.data(), place.host.data(),
              std::min(place.host.size(), header.host.size() - 1));
  return header;
}

// The arguments of this process, a zero after each; a long command is cut.
std::string command_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words(kLongestCommand, '\0');
  file.read(words.data(), static_cast<std::streamsize>(words.size()));
  words.resize(static_cast<std::size_t>(file.gcount()));
  return words;
}

// Whether the event's value is a duration.
constexpr bool lasts(Event event) {
  using enum Event;
  return event == kScope || event == kScopeOpened || event == kScopeClosed ||
         event == kScopeRefused || event == kHandlerRan || event == kBarrier || event == kAwaited;
}

}  // namespace

constinit thread_local EventLog::Noting EventLog::noting_{0, nullptr};

// Owns the ring of noting_; another thread gets the ring when its thread ends.
struct EventLog::Mine {
  std::shared_ptr<EventRing> ring;
  ~Mine() {
    leave();
    noting_ = {0, nullptr};
    thread_ends = true;
  }
  void leave() {
    if (ring) ring->abandoned.store(true, std::memory_order_release);
  }
};

base::Result<std::unique_ptr<EventLog>> EventLog::create(const Place& place) {
  std::error_code why;
  std::filesystem::create_directories(place.folder, why);
  if (why) return base::error("the folder {} for event logs: {}", place.folder, why.message());
  std::string path =
      fmt::format("{}/{}{}{}", place.folder, place.node.value, place.front_end, kSuffix);
  base::UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
  if (!file && errno == EEXIST)
    return base::error("{} is another job's event log; give another folder", path);
  if (!file) return base::errno_error(fmt::format("cannot write the event log {}", path));
  FileHeader header = header_of(place);
  if (::write(file.get(), &header, sizeof header) != sizeof header)
    return base::errno_error(fmt::format("cannot write the event log {}", path));
  return std::unique_ptr<EventLog>(new EventLog(std::move(file), std::move(path)));
}

EventLog::EventLog(base::UniqueFd file, std::string path)
    : serial_(++last_serial), path_(std::move(path)), file_(std::move(file)) {
  write(BlockKind::kEvents, 0, std::as_bytes(std::span(kEventNames)));
  const std::string words = command_words();
  write(BlockKind::kCommand, 0, std::as_bytes(std::span(words)));
  const char* job = std::getenv(kJobVariable);
  if (job != nullptr) write(BlockKind::kJob, 0, std::as_bytes(std::span(std::string_view(job))));
  streamer_ = platform::start_without_signals([this] { stream(); });
}

EventLog::~EventLog() {
  {
    std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  streamer_.join();
  drain_all();
  write(BlockKind::kEnd, 0, {});
}

// ---- Noting

EventRing& EventLog::ring() {
  const Noting now = noting_;
  return now.serial == serial_ ? *now.ring : ring_of_new_thread();
}

EventRing& EventLog::ring_of_new_thread() {
  std::shared_ptr<EventRing> ring;
  {
    std::lock_guard hold(mutex_);
    if (free_rings_.empty()) {
      ring = std::make_shared<EventRing>();
    } else {
      ring = std::move(free_rings_.back());
      free_rings_.pop_back();
    }
    ring->thread = static_cast<std::uint32_t>(::gettid());
    ring->abandoned.store(false, std::memory_order_relaxed);
    rings_.push_back(ring);
  }
  noting_ = {serial_, ring.get()};
  std::uint32_t thread = ring->thread;
  if (!thread_ends) {
    thread_local Mine mine;
    mine.leave();
    mine.ring = std::move(ring);
  }
  char name[32] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  note_text(Event::kThreadName, {.object = thread}, name);
  return *noting_.ring;
}

// A thread whose ring is full writes it to the file itself, so no event is left out.
void EventLog::add(const Record& record) {
  EventRing& mine_now = ring();
  while (!mine_now.add(record)) drain(mine_now);
}

void EventLog::note_text(Event event, Fields fields, std::string_view text) {
  fields.number = static_cast<std::uint32_t>(text.size());
  note(event, fields);
  for (std::size_t at = 0; at < text.size(); at += sizeof(Record)) {
    Record piece;
    std::string_view part = text.substr(at, sizeof piece);
    std::memcpy(static_cast<void*>(&piece), part.data(), part.size());
    add(piece);
  }
}

// ---- To the file

void EventLog::drain(EventRing& ring) {
  ring.drain([&](std::span<Record> records) {
    in_ns(ring, records);
    write(BlockKind::kRecords, ring.thread, std::as_bytes(records));
  });
}

platform::TickScale EventLog::marked_scale() {
  std::lock_guard hold(file_mutex_);
  scale_.mark();
  return scale_;
}

// Converts ticks to ns. Records that hold the text of an earlier record are not changed.
void EventLog::in_ns(EventRing& ring, std::span<Record> records) {
  const platform::TickScale scale = marked_scale();
  constexpr std::uint32_t kBytes = sizeof(Record);
  std::uint32_t text_left = ring.text_left;
  for (Record& record : records) {
    if (text_left > 0) {
      text_left -= std::min(text_left, kBytes);
      continue;
    }
    // Each drain marks the scale anew, and its marks may differ by a microsecond from the last
    // ones.
    ring.last_ns = std::max(ring.last_ns, scale.moment_ns(record.time_ns));
    record.time_ns = ring.last_ns;
    if (lasts(record.event)) record.value = scale.duration_ns(record.value);
    if (has_text(record.event)) text_left = record.number;
  }
  ring.text_left = text_left;
}

// Rings of threads that have ended are used again by other threads.
void EventLog::drain_all() {
  std::vector<std::shared_ptr<EventRing>> all;
  {
    std::lock_guard hold(mutex_);
    all = rings_;
  }
  for (const auto& ring : all) {
    bool over = ring->abandoned.load(std::memory_order_acquire);
    drain(*ring);
    if (!over) continue;
    std::lock_guard hold(mutex_);
    std::erase(rings_, ring);
    free_rings_.push_back(ring);
  }
}

void EventLog::stream() {
  pthread_setname_np(pthread_self(), "terrane-log");
  std::unique_lock hold(mutex_);
  while (!stop_.wait_for(hold, kStreamEvery, [this] { return stopping_; })) {
    hold.unlock();
    drain_all();
    hold.lock();
  }
}

void EventLog::write(BlockKind kind, std::uint32_t thread, std::span<const std::byte> bytes) {
  BlockHeader header{.kind = kind, .thread = thread};
  header.bytes = static_cast<std::uint32_t>(bytes.size());
  std::lock_guard hold(file_mutex_);
  if (ended_) return;
  iovec parts[] = {{&header, sizeof header}, {const_cast<std::byte*>(bytes.data()), bytes.size()}};
  ssize_t written = ::writev(file_.get(), parts, 2);
  if (written == static_cast<ssize_t>(sizeof header + bytes.size())) return;
  ended_ = true;
  base::log("the event log {} ends here: {}", path_,
            written < 0 ? std::strerror(errno) : "no more could be written");
}

}  // namespace terrane::runtime::trace
