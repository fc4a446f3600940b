#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "bootstrap/job_map.h"
#include "bootstrap/pmix_abi.h"

namespace terrane::bootstrap {

// A process's connection to the PMIx server of the launcher that started it (mpirun, prterun,
// srun). Owns the connection, which ends with this object unless it was abandoned. The library
// stays loaded: its threads may still run. One thread at a time.
class PmixClient {
 public:
  // Whether a PMIx launcher started this process. Reads the environment only.
  static bool offered();
  // Loads libpmix and connects.
  static base::Result<std::unique_ptr<PmixClient>> connect();
  ~PmixClient();
  PmixClient(const PmixClient&) = delete;

  std::uint32_t rank() const { return self_.rank; }
  std::uint32_t size() const { return size_; }
  // The name of the job.
  std::string job() const { return self_.space; }
  // On which host each process of the job is. Equal on all of them.
  base::Result<JobMap> map() const;

  // What this process has to tell to all others, once they have met.
  base::Result<> put(const char* key, const std::string& text);
  // Collective: blocks until all processes have come, or `objection`, which is asked every second,
  // has a sentence. Nothing more can be asked of PMIx then.
  base::Result<> meet(const std::function<std::optional<std::string>()>& objection);
  // What `rank` put before they met.
  base::Result<std::string> get(std::uint32_t rank, const char* key) const;

  // Ends the connection in order; a launcher takes an exit without it for a failure.
  void finalize();
  // The launcher ends all processes of the job, this one among them, and exits with `code`. From
  // any thread.
  void abort(int code) { library_.abort(code, "", nullptr, 0); }
  // The connection is left as it is: to the launcher, this process's end is then a failure.
  void abandon() { connected_ = false; }

 private:
  struct Library {
    pmix::InitFunction* init;
    pmix::FinalizeFunction* finalize;
    pmix::PutFunction* put;
    pmix::CommitFunction* commit;
    pmix::FenceFunction* fence;
    pmix::AbortFunction* abort;
    pmix::GetFunction* get;
    pmix::ErrorStringFunction* error_string;
  };

  explicit PmixClient(const Library& library) : library_(library) {}

  static base::Result<Library> load();
  base::Error failure(const char* what, pmix::Status status) const;
  std::optional<std::uint64_t> get_number(std::uint32_t rank, const char* key) const;
  std::optional<std::string> get_text(std::uint32_t rank, const char* key) const;

  Library library_;
  pmix::Process self_{};
  std::uint32_t size_ = 0;
  bool connected_ = false;
};

}  // namespace terrane::bootstrap
