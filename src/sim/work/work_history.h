#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/prng.h"
#include "protocol/chunks/mesi_chunk.h"
#include "sim/network.h"
#include "sim/schedule.h"
#include "sim/trace.h"
#include "sim/violation.h"

namespace terrane::sim {

namespace chunks = protocol::chunks;

struct WorkOutcome {
  Violation violation;
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  std::uint64_t versions = 0;  // that were taken
  std::uint64_t deaths = 0;
  std::uint64_t hash = 0xcbf29ce484222325u;

  bool failed() const { return violation.fault != Fault::kNone; }
};

// A pipeline: sources put frames, a worker takes each frame and puts a result with its tag, and a
// sink takes the results. Nodes die, join and leave meanwhile. Checks that no frame is lost or left
// unprocessed, that ordered results are taken in order and once, that no version is with two living
// subscribers, and that no stream ends before all is done.
class WorkHistory {
 public:
  // `nodes`: 0 for 4 to 6. `careful`: checks the invariants after every step. `trace` may be
  // nullptr.
  WorkOutcome run(std::uint32_t nodes, std::uint64_t seed, bool careful, Trace* trace);

 private:
  static constexpr std::uint64_t kMaxSteps = 200'000;
  static constexpr std::uint32_t kMaxWorkNodes = 9;
  static constexpr std::uint32_t kMaxThreads = 32;
  static constexpr ActorId kFirstClock = kMaxThreads;
  static constexpr ActorId kFirstNews = kFirstClock + kMaxWorkNodes;
  static constexpr std::uint32_t kWords = 3;    // of a full version
  static constexpr std::uint32_t kPlaces = 64;  // of a stream on a node; upper half: of its home
  static constexpr std::uint32_t kFrames = 0, kResults = 1;

  enum class Role : std::uint8_t { kSource, kEnder, kWorker, kSink };
  enum class Doing : std::uint8_t {
    kCreatesFrames,
    kCreatesResults,
    kSubscribes,
    kTakes,
    kWrites,  // asks for room
    kFills,
    kEnds,
    kOver,
  };
  struct Open {
    std::uint64_t tag = 0;
    chunks::Place place;
    std::uint64_t words = 0;
  };
  struct Thread {
    std::uint32_t node = 0;
    Role role = Role::kSource;
    Doing doing = Doing::kCreatesFrames;
    bool waits = false;
    std::uint32_t quota = 0;  // frames that it puts, or takes before it unsubscribes; 0: all
    std::uint32_t count = 0;  // how many so far
    std::vector<Open> open;   // versions that it has taken and not released
    chunks::Place writing;    // the version that it writes
    bool writes = false;
    std::array<chunks::ChunkId, 2> id;  // as reported to it
    bool timed = false;
  };
  struct Node {
    std::unique_ptr<chunks::MesiChunk> machine;
    // By stream. When a stream has died, there may be a second one of the same name.
    std::map<std::uint64_t, std::array<std::array<std::uint64_t, kWords>, kPlaces>> memory;
    std::uint64_t now_ns = 0;
    bool alive = true;
    std::size_t views = 0;  // that were reported to it
  };
  struct Change {
    std::uint32_t node = 0;
    std::uint32_t step = 0;
    bool done = false;
  };

  // work_history.cpp
  void begin(std::uint32_t nodes, std::uint64_t seed);
  void draw_threads();
  void draw_changes();
  void loop();
  void changes();
  void kill(std::uint32_t node);
  void publish_view();
  void tell(std::uint32_t node);
  void deliver(std::uint32_t channel);
  void step(std::uint32_t node, const chunks::Event& event);
  void perform(std::uint32_t node);
  std::array<std::uint64_t, kWords>& memory(std::uint32_t node, chunks::ChunkId chunk,
                                            chunks::Place place);
  void note(std::uint64_t what) { outcome_.hash = (outcome_.hash ^ what) * 0x100000001b3u; }

  // work_threads.cpp: what the threads do
  void act(std::uint32_t thread);
  void act_source(std::uint32_t thread);
  void act_worker(std::uint32_t thread);
  void act_sink(std::uint32_t thread);
  void wait(std::uint32_t thread, Doing doing, const chunks::Event& event);
  void finish(std::uint32_t thread);
  void release(std::uint32_t thread, std::uint32_t stream, std::size_t which);
  void put(std::uint32_t thread, std::uint32_t stream, std::uint64_t tag);
  void resume(std::uint32_t node, const chunks::Resume& resume);
  void resume_write(std::uint32_t thread, const chunks::Resume& resume);
  void resume_taken(std::uint32_t thread, const chunks::Resume& resume);
  void took(std::uint32_t thread, const chunks::Resume& resume);
  void check_ended(std::uint32_t thread) const;
  void check_discarded(std::uint32_t node, const chunks::Discard& discard);
  void source_over();
  void finish_check() const;
  std::uint64_t deadline(Thread& thread);

  base::Prng rng_{0};
  bool careful_ = false;
  Trace* trace_ = nullptr;
  WorkOutcome outcome_;
  Schedule schedule_;
  Network network_;
  std::uint32_t nodes_count_ = 4, servers_ = 1;
  std::uint32_t source_node_ = 0, sink_node_ = 0;
  chunks::WorkShape shapes_[2];
  std::uint64_t capacity_ = 0;  // frames that a source may have under way
  std::uint64_t credit_ = 0;    // frames that a subscriber may hold
  std::vector<Change> deaths_, joins_;
  std::vector<chunks::View> views_;
  std::vector<Node> nodes_;
  std::vector<Thread> threads_;
  chunks::ChunkId ids_[2];  // the last numbers that were reported to a thread
  bool subscribed_[2][kMaxWorkNodes] = {};
  std::uint32_t putting_ = 0;                    // sources that have not ended
  std::uint64_t next_tag_ = 0;                   // of the next frame
  std::set<std::uint64_t> put_;                  // tags of the frames that were put
  std::map<std::uint64_t, std::uint32_t> held_;  // open frames, and their threads
  std::set<std::uint64_t> shown_;                // tags of results that the sink has released
  std::uint64_t taken_results_ = 0;
  bool early_ = false;     // the input may end before its sources do
  bool lost_ = false;      // the source, the sink, or the home of a stream has died
  bool given_up_ = false;  // a source was notified that no subscriber lives
};

}  // namespace terrane::sim
