// What the guide says of constructs that have no effect, or are refused.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kClaims = CLAIMS_PROGRAM;

TEST(OmpClaimsTest, CancellationIsInactive) {
  for (const std::string& team : kTeams) expect_good(team, kClaims + " cancel");
  expect_good("-n 2", kClaims + " cancel", {"OMP_CANCELLATION=true"});
}

TEST(OmpClaimsTest, PausesAreRefused) {
  for (const std::string& team : kTeams) expect_good(team, kClaims + " pause");
}

TEST(OmpClaimsTest, ACallOfOpenAccEndsTheProgramWithItsName) {
  Outcome outcome = run_omp("-n 2", kClaims + " openacc");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("acc_init is not served on several nodes"), std::string::npos)
      << outcome.err;
}

#ifdef STATIC_PROGRAM
TEST(OmpClaimsTest, AProgramWithAnOpenMpLibraryInItIsRefused) {
  Outcome outcome = run_omp("-n 2", STATIC_PROGRAM);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("holds gcc's OpenMP library itself"), std::string::npos)
      << outcome.err;
}
#endif

}  // namespace
}  // namespace terrane::test_hosts
