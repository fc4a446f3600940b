// aio_read(3) and its kin on shared memory: the threads of the C library do not reach its pages, so
// the calling thread reads or writes before the call returns. The C library's aio_error, aio_return
// and aio_suspend find the end in the block.
#include <aio.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/notices.h"
#include "frontend/interpose/shared_range.h"

using namespace terrane::frontend;

namespace {

static_assert(sizeof(aiocb) == sizeof(aiocb64));

// Also all blocks of a program on several nodes, since a function of theirs (SIGEV_THREAD) is to
// run in a thread of the program.
bool is_shared(const aiocb* block) {
  return Notices::get() != nullptr || SharedRange::contains(block) ||
         (block != nullptr && SharedRange::contains(const_cast<const void*>(block->aio_buf)));
}

void set_end(aiocb& block, ssize_t result) {
  block.__return_value = result;
  block.__error_code = result < 0 ? errno : 0;
}

bool is_valid(const aiocb& block) {
  constexpr int kMostPriority = 20;  // AIO_PRIO_DELTA_MAX of the C library
  if (block.aio_reqprio >= 0 && block.aio_reqprio <= kMostPriority) return true;
  errno = EINVAL;
  return false;
}

void move(aiocb& block, bool reads) {
  void* bytes = const_cast<void*>(block.aio_buf);
  set_end(block, reads ? ::pread(block.aio_fildes, bytes, block.aio_nbytes, block.aio_offset)
                       : ::pwrite(block.aio_fildes, bytes, block.aio_nbytes, block.aio_offset));
}

int move_at_once(aiocb& block, bool reads) {
  if (!is_valid(block)) return -1;
  move(block, reads);
  notify(block.aio_sigevent);
  return 0;
}

int run_list(int mode, aiocb* const list[], int count, const sigevent* event) {
  if (mode != LIO_WAIT && mode != LIO_NOWAIT) {
    errno = EINVAL;
    return -1;
  }
  bool failed = false;
  for (aiocb* block : std::span(list, static_cast<std::size_t>(std::max(count, 0)))) {
    if (block == nullptr || block->aio_lio_opcode == LIO_NOP) continue;
    bool reads = block->aio_lio_opcode == LIO_READ;
    if (!reads && block->aio_lio_opcode != LIO_WRITE) {
      errno = EINVAL;
      set_end(*block, -1);
    } else if (move_at_once(*block, reads) != 0) {
      set_end(*block, -1);
    }
    failed = failed || block->__error_code != 0;
  }
  if (mode == LIO_NOWAIT && event != nullptr) notify(*event);
  if (failed) errno = EIO;
  return failed ? -1 : 0;
}

bool is_any_shared(aiocb* const list[], int count) {
  if (SharedRange::contains(list)) return true;
  return std::any_of(list, list + std::max(count, 0), is_shared);
}

int sync_at_once(int how, aiocb& block) {
  if (how != O_SYNC && how != O_DSYNC) {
    errno = EINVAL;
    return -1;
  }
  set_end(block, how == O_SYNC ? ::fsync(block.aio_fildes) : ::fdatasync(block.aio_fildes));
  notify(block.aio_sigevent);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int aio_read(aiocb* block) noexcept {
  if (is_shared(block)) return move_at_once(*block, true);
  return next<"aio_read">(::aio_read)(block);
}

int aio_write(aiocb* block) noexcept {
  if (is_shared(block)) return move_at_once(*block, false);
  return next<"aio_write">(::aio_write)(block);
}

int aio_fsync(int how, aiocb* block) noexcept {
  if (is_shared(block)) return sync_at_once(how, *block);
  return next<"aio_fsync">(::aio_fsync)(how, block);
}

int lio_listio(int mode, aiocb* const list[], int count, sigevent* event) noexcept {
  if (is_any_shared(list, count)) return run_list(mode, list, count, event);
  return next<"lio_listio">(::lio_listio)(mode, list, count, event);
}

}  // extern "C"
#pragma GCC visibility pop
