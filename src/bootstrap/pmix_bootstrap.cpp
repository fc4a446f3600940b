#include "bootstrap/pmix_bootstrap.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "bootstrap/adopting_engine.h"
#include "bootstrap/adoption.h"
#include "bootstrap/attendance.h"
#include "bootstrap/debugger_wait.h"
#include "bootstrap/job_of_one.h"
#include "bootstrap/local_bootstrap.h"

namespace terrane::bootstrap {
namespace {

// What the processes tell each other by PMIx. The value of either may be a sentence that says why
// there is no job; it then begins with kSorry, and everybody fails with it.
constexpr const char* kJobKey = "terrane.job";    // of process 0: the secret, a blank, the hub
constexpr const char* kDoorKey = "terrane.door";  // of the first process of each host: its door
constexpr char kSorry = '!';

// The wire-up of one process. Every process goes through the same collective steps, whatever fails
// on the way: nobody may wait for one that gave up.
class WireUp {
 public:
  WireUp(const PmixClient& pmix, std::chrono::milliseconds limit) : pmix_(pmix), limit_(limit) {}

  base::Result<> tell(PmixClient& pmix);
  base::Result<base::UniqueFd> find_place();

 private:
  base::Result<> prepare();
  base::Result<> meet(PmixClient& pmix);
  base::Result<std::string> said(std::uint32_t rank, const char* key) const;
  bool is_first_of_host() const { return pmix_.rank() == first_of_host_; }

  const PmixClient& pmix_;
  std::chrono::milliseconds limit_;  // for all to come
  AdoptionOrder order_;
  std::uint32_t first_of_host_ = 0;
  std::optional<Door> door_;
  std::string job_;  // process 0
};

base::Result<> WireUp::prepare() {
  auto map = pmix_.map();
  if (!map) return map.error();
  order_.map = std::move(map).value();
  const std::vector<std::uint32_t>& host_of = order_.map.host_of;
  order_.host = host_of[pmix_.rank()];
  first_of_host_ = static_cast<std::uint32_t>(
      std::find(host_of.begin(), host_of.end(), order_.host) - host_of.begin());
  if (!is_first_of_host()) return {};
  auto door = open_door();
  if (!door) return door.error();
  door_ = std::move(door).value();
  if (pmix_.rank() != 0) return {};
  auto secret = make_secret();
  if (!secret) return secret.error();
  order_.secret = secret.value();
  auto hub = start_adopting_engine(order_, *door_);
  if (!hub) return hub.error();
  job_ = to_text(order_.secret) + " " + hub.value();
  return {};
}

base::Result<> WireUp::tell(PmixClient& pmix) {
  base::Result<> prepared = prepare();
  std::string sorry = prepared ? "" : kSorry + prepared.error().message;
  if (pmix.rank() == 0) {
    if (auto put = pmix.put(kJobKey, prepared ? job_ : sorry); !put) return put;
  }
  if (is_first_of_host()) {
    if (auto put = pmix.put(kDoorKey, prepared ? door_->name : sorry); !put) return put;
  }
  base::Result<> met = meet(pmix);
  return prepared ? met : prepared;
}

base::Result<> WireUp::meet(PmixClient& pmix) {
  if (order_.map.host_of.empty()) return pmix.meet([] { return std::nullopt; });
  auto attendance = Attendance::begin(pmix.job(), pmix.rank(), order_.map, limit_);
  if (!attendance) return attendance.error();
  return pmix.meet([&attendance] { return attendance.value().objection(); });
}

base::Result<std::string> WireUp::said(std::uint32_t rank, const char* key) const {
  auto text = pmix_.get(rank, key);
  if (!text) return text;
  if (text.value().starts_with(kSorry)) return base::Error{text.value().substr(1)};
  return text;
}

base::Result<base::UniqueFd> WireUp::find_place() {
  auto job = said(0, kJobKey);
  if (!job) return job.error();
  std::size_t blank = job.value().find(' ');
  auto secret = secret_of(job.value().substr(0, blank));
  if (!secret || blank == std::string::npos) {
    return base::error("what process 0 told by PMIx is not a Terrane job; are all of one version?");
  }
  if (is_first_of_host() && pmix_.rank() != 0) {
    order_.secret = *secret;
    order_.hub = job.value().substr(blank + 1);
    if (auto started = start_adopting_engine(order_, *door_); !started) return started.error();
  }
  door_.reset();  // the engine holds it now; where there is none, the knocking node learns it
  auto door = said(first_of_host_, kDoorKey);
  if (!door) return door.error();
  return knock(door.value(), NodeId{pmix_.rank()}, *secret);
}

}  // namespace

base::Result<std::unique_ptr<Bootstrap>> PmixBootstrap::connect() {
  auto pmix = PmixClient::connect();
  if (!pmix) return pmix.error();
  // Before the wire-up, in which the others wait for us without a limit.
  if (auto held = wait_for_debugger_if_asked(pmix.value()->rank()); !held) return held.error();
  if (pmix.value()->size() == 1) return std::unique_ptr<Bootstrap>(std::make_unique<JobOfOne>());
  auto limit = start_timeout();
  if (!limit) return limit.error();
  bool debugged = std::getenv("TERRANE_DEBUG") != nullptr;  // nobody knows for how long
  WireUp wire_up(*pmix.value(), debugged ? std::chrono::milliseconds(0) : limit.value());
  if (auto told = wire_up.tell(*pmix.value()); !told) return told.error();
  auto place = wire_up.find_place();
  if (!place) return place.error();
  auto claimed = LocalBootstrap::claim(std::move(place).value());
  if (!claimed) return claimed.error();
  return std::unique_ptr<Bootstrap>(
      new PmixBootstrap(std::move(claimed).value(), std::move(pmix).value()));
}

void PmixBootstrap::fail(std::string_view sentence, int code) {
  place_->fail(sentence, code);
  ::_exit(code);
}

// A process that ends by a signal is a failure to the launcher, but to mpirun and prterun not where
// the job was aborted with 0 before. (To srun that is a failure, too.)
void PmixBootstrap::ending(int code) {
  place_->ending(code);
  bool by_slurm = pmix_->job().starts_with("slurm.");
  if (code == 0 && !by_slurm) pmix_->abort(code);
}

void PmixBootstrap::leaving(Departure departure) {
  place_->leaving(departure);
  pmix_->finalize();
}

}  // namespace terrane::bootstrap
