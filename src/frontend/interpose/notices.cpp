#include "frontend/interpose/notices.h"

#include <pthread.h>
#include <unistd.h>

#include <new>

#include "base/log.h"
#include "frontend/interpose/new_thread.h"

namespace terrane::frontend {
namespace {

struct Call {
  void (*function)(sigval);
  sigval value;
};

void* run(void* raw) {
  Call call = *static_cast<Call*>(raw);
  delete static_cast<Call*>(raw);
  call.function(call.value);
  return nullptr;
}

// Of a program on one node. An error number, or 0.
int start_here(const sigevent& event) {
  auto* call = new (std::nothrow) Call{event.sigev_notify_function, event.sigev_value};
  if (call == nullptr) return EAGAIN;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int error = create_thread(&thread, &attributes, run, call);
  pthread_attr_destroy(&attributes);
  if (error != 0) delete call;
  return error;
}

}  // namespace

void notify(const sigevent& event) {
  if (event.sigev_notify == SIGEV_SIGNAL && event.sigev_signo != 0)
    ::sigqueue(::getpid(), event.sigev_signo, event.sigev_value);
  if (event.sigev_notify != SIGEV_THREAD) return;
  Notices* notices = Notices::get();
  int error = notices != nullptr ? notices->start(event) : start_here(event);
  if (error != 0) base::log("no thread for the function of SIGEV_THREAD: {}", ::strerror(error));
}

}  // namespace terrane::frontend
