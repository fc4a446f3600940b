// getnetgrent: as getnetgrent_r, from the one list of node 0, with texts in shared memory.
#include <netdb.h>

#include "frontend/threads/copies.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

#pragma GCC visibility push(default)
extern "C" {

int getnetgrent(char** host, char** user, char** domain) {
  if (!concerns_all_nodes()) return next<"getnetgrent">(::getnetgrent)(host, user, domain);
  constexpr std::size_t kMost = 4096;
  char texts[kMost];
  int found = ::getnetgrent_r(host, user, domain, texts, kMost);
  for (char** text : {host, user, domain})
    if (found == 1) *text = shared_text(*text);
  return found;
}

}  // extern "C"
#pragma GCC visibility pop
