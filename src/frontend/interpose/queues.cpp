// Message queues and semaphores of System V and POSIX, and their kin.
#include <mqueue.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstdarg>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/notices.h"

using namespace terrane::frontend;

namespace {

union SemaphoreArgument {  // semctl(2) has its callers declare it
  int value;
  semid_ds* status;
  unsigned short* values;
};

int control_semaphores(int semaphores, int number, int command, SemaphoreArgument argument) {
  return ::semctl(semaphores, number, command, argument);
}

// Those of System V are node 0's: another node may be on another host.
bool is_node_0_s() { return Elsewhere::get() != nullptr && Elsewhere::get()->is_for_node_0(); }

// What the command's pointer leads to.
std::size_t argument_bytes(int semaphores, int command) {
  switch (command) {
    case IPC_STAT:
    case IPC_SET:
    case SEM_STAT:
      return sizeof(semid_ds);
    case IPC_INFO:
    case SEM_INFO:
      return sizeof(seminfo);
    case GETALL:
    case SETALL: {
      semid_ds status{};
      SemaphoreArgument argument{.status = &status};
      if (next<"semctl">(::semctl)(semaphores, 0, IPC_STAT, argument) != 0) return 0;
      return status.sem_nsems * sizeof(unsigned short);
    }
    default:
      return 0;
  }
}

// call(buffer, priority) is one of the mq_receive family.
template <typename Call>
ssize_t take_message(char* to, std::size_t bytes, unsigned* priority, Call call) {
  OutBytes own(to, bytes);
  Out<unsigned> own_priority(priority);
  ssize_t got = call(static_cast<char*>(own.get()), own_priority.get());
  return own_priority.done(own.done(got, static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int msgget(key_t key, int flags) noexcept {
  if (is_node_0_s()) return call_on(0, ::msgget, key, flags);
  return next<"msgget">(::msgget)(key, flags);
}

int semget(key_t key, int count, int flags) noexcept {
  if (is_node_0_s()) return call_on(0, ::semget, key, count, flags);
  return next<"semget">(::semget)(key, count, flags);
}

int shmget(key_t key, size_t bytes, int flags) noexcept {
  if (is_node_0_s()) return call_on(0, ::shmget, key, bytes, flags);
  return next<"shmget">(::shmget)(key, bytes, flags);
}

int msgsnd(int queue, const void* message, size_t bytes, int flags) {
  if (is_node_0_s())
    return cancellable([&] { return call_on(0, ::msgsnd, queue, message, bytes, flags); });
  InBytes own(message, sizeof(long) + bytes);
  return cancellable_next<"msgsnd">(::msgsnd)(queue, own.get(), bytes, flags);
}

ssize_t msgrcv(int queue, void* message, size_t bytes, long kind, int flags) {
  if (is_node_0_s())
    return cancellable([&] { return call_on(0, ::msgrcv, queue, message, bytes, kind, flags); });
  OutBytes own(message, sizeof(long) + bytes);
  ssize_t result = cancellable_next<"msgrcv">(::msgrcv)(queue, own.get(), bytes, kind, flags);
  return own.done(result, sizeof(long) + static_cast<std::size_t>(std::max<ssize_t>(result, 0)));
}

int msgctl(int queue, int command, msqid_ds* argument) noexcept {
  if (is_node_0_s()) return call_on(0, ::msgctl, queue, command, argument);
  std::size_t bytes =
      command == IPC_INFO || command == MSG_INFO ? sizeof(msginfo) : sizeof(msqid_ds);
  OutBytes own(argument, bytes);
  auto* call = next<"msgctl">(::msgctl);
  return own.done(call(queue, command, static_cast<msqid_ds*>(own.get())), bytes);
}

int semop(int semaphores, sembuf* operations, size_t count) noexcept {
  if (is_node_0_s()) return call_on(0, ::semop, semaphores, operations, count);
  InBytes own(operations, count * sizeof *operations);
  auto* from = static_cast<sembuf*>(const_cast<void*>(own.get()));
  return next<"semop">(::semop)(semaphores, from, count);
}

int semtimedop(int semaphores, sembuf* operations, size_t count, const timespec* timeout) noexcept {
  if (is_node_0_s()) return call_on(0, ::semtimedop, semaphores, operations, count, timeout);
  InBytes own(operations, count * sizeof *operations);
  In<timespec> own_timeout(timeout);
  auto* from = static_cast<sembuf*>(const_cast<void*>(own.get()));
  return next<"semtimedop">(::semtimedop)(semaphores, from, count, own_timeout.get());
}

int semctl(int semaphores, int number, int command, ...) noexcept {
  va_list more;
  va_start(more, command);
  auto argument = va_arg(more, SemaphoreArgument);
  va_end(more);
  if (is_node_0_s()) return call_on(0, control_semaphores, semaphores, number, command, argument);
  auto* call = next<"semctl">(::semctl);
  bool shared = command != SETVAL && SharedRange::contains(argument.status);
  std::size_t bytes = shared ? argument_bytes(semaphores, command) : 0;
  if (bytes == 0) return call(semaphores, number, command, argument);
  OutBytes own(argument.status, bytes);
  argument.status = static_cast<semid_ds*>(own.get());
  return own.done(call(semaphores, number, command, argument), bytes);
}

int shmctl(int segment, int command, shmid_ds* argument) noexcept {
  if (is_node_0_s()) return call_on(0, ::shmctl, segment, command, argument);
  Out<shmid_ds, true> own(argument);
  return own.done(next<"shmctl">(::shmctl)(segment, command, own.get()));
}

mqd_t mq_open(const char* name, int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  bool creates = (flags & O_CREAT) != 0;
  mode_t mode = creates ? va_arg(more, mode_t) : 0;
  mq_attr* shape = creates ? va_arg(more, mq_attr*) : nullptr;
  va_end(more);
  InOut<mq_attr> own(shape);
  return adopt(next<"mq_open">(::mq_open)(InPath(name).get(), flags, mode, own.get()));
}

ssize_t mq_timedreceive(mqd_t queue, char* to, size_t bytes, unsigned* priority,
                        const timespec* until) {
  if (is_elsewhere(queue))
    return cancellable([&] {
      return call_elsewhere(queue, ::mq_timedreceive, queue, to, bytes, priority, until);
    });
  In<timespec> own_until(until);
  return take_message(to, bytes, priority, [&](char* own, unsigned* own_priority) {
    auto call = cancellable_next<"mq_timedreceive">(::mq_timedreceive);
    return call(queue, own, bytes, own_priority, own_until.get());
  });
}

ssize_t mq_receive(mqd_t queue, char* to, size_t bytes, unsigned* priority) {
  if (is_elsewhere(queue))
    return cancellable(
        [&] { return call_elsewhere(queue, ::mq_receive, queue, to, bytes, priority); });
  return take_message(to, bytes, priority, [&](char* own, unsigned* own_priority) {
    return cancellable_next<"mq_receive">(::mq_receive)(queue, own, bytes, own_priority);
  });
}

int mq_notify(mqd_t queue, const sigevent* event) noexcept {
  if (is_elsewhere(queue)) return call_elsewhere(queue, ::mq_notify, queue, event);
  bool starts_thread = event != nullptr && event->sigev_notify == SIGEV_THREAD;
  Notices* notices = Notices::get();
  if (starts_thread && notices != nullptr && notices->asks())
    return notices->await_message(queue, *event);
  return next<"mq_notify">(::mq_notify)(queue, In<sigevent>(event).get());
}

}  // extern "C"
#pragma GCC visibility pop
