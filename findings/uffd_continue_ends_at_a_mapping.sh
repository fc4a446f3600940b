#!/bin/sh
# UFFDIO_CONTINUE and UFFDIO_COPY fail with ENOENT where a range that is registered as a whole has become two mappings.
#
# Version: Linux 6.1 (source: validate_dst_vma() and its callers in mm/userfaultfd.c) and 6.18 (run), x86-64.
# Input: a shared mapping of a memory file, registered at once with a userfaultfd; then mprotect() of one page in it.
# What one would guess: nothing. Both calls enter any part of what was registered, UFFDIO_WRITEPROTECT does take a range
# that reaches over such mappings, and the manual gives ENOENT to a process that changes its memory "simultaneously".
# Seen: ENOENT, and no page is entered, also of those before the border. So who enters several pages by one call has to
# be ready for a program that calls mprotect, madvise or anything else that splits a mapping.
# For our users: mprotect of a part of shared memory could end a job (src/platform/userfault.cpp; FaultSourceTest.
# ARangeWithOtherRightsInItIsEnteredAsAWhole).
#
# Exit code: 0 if this is still so; 1 if it has changed; 77 without a compiler, or where userfaultfd is denied.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v cc >/dev/null || exit 77
cat >two.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 4096, kPages = 8 };

static int descriptor;

static int enter(char* at, int pages) {
  struct uffdio_continue request = {{(unsigned long)at, (unsigned long)pages * kPage}, 0, 0};
  int result = ioctl(descriptor, UFFDIO_CONTINUE, &request);
  printf("UFFDIO_CONTINUE of %d pages: %s, %lld bytes\n", pages, result == 0 ? "done" : strerror(errno),
         (long long)request.mapped);
  return result == 0 ? 0 : errno;
}

int main(void) {
  descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
  struct uffdio_api api = {.api = UFFD_API,
                           .features = UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_MINOR_SHMEM |
                                       UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP};
  if (descriptor < 0 || ioctl(descriptor, UFFDIO_API, &api) != 0) return 77;
  int file = memfd_create("two", 0);
  if (ftruncate(file, kPages * kPage) != 0) return 2;
  char* view = mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* other = mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memset(other, 7, kPages * kPage);
  struct uffdio_register all = {.range = {(unsigned long)view, kPages * kPage},
                                .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR |
                                        UFFDIO_REGISTER_MODE_WP};
  if (ioctl(descriptor, UFFDIO_REGISTER, &all) != 0) return 77;
  int whole = enter(view, 3);
  mprotect(view + 5 * kPage, kPage, PROT_READ);
  int over_border = enter(view + 3 * kPage, 4);
  int before_border = enter(view + 3 * kPage, 2);
  struct uffdio_writeprotect protect = {{(unsigned long)view, kPages * kPage}, UFFDIO_WRITEPROTECT_MODE_WP};
  int protects = ioctl(descriptor, UFFDIO_WRITEPROTECT, &protect);
  printf("UFFDIO_WRITEPROTECT of all: %s\n", protects == 0 ? "done" : strerror(errno));
  return whole == 0 && over_border == ENOENT && before_border == 0 && protects == 0 ? 0 : 1;
}
C
cc -O1 two.c -o two
uname -r
./two
