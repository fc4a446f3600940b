#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

// Files that every node maps itself, at one address: what only reads them, and what nodes of one
// kernel share. Their pages are each kernel's, are read when they are touched, and are no memory of
// the job. Usable by every thread of the program.
namespace terrane::frontend::threads::file_maps {

// Below this size the bytes of a file that is only read are copied, which takes less time than to
// map it on every node.
inline constexpr std::size_t kLeastBytes = std::size_t{1} << 20;

// As mmap(2) without an address, of a regular file. nullptr: nodes cannot map it alike (another
// host sees another file, or shares no kernel with this one), or need not. MAP_FAILED and errno:
// the kernel refuses.
void* map(std::size_t bytes, int rights, int flags, int fd, off_t offset);

// Whether map() made the mapping that the address lies in, on whichever node.
bool hold(const void* address);

// As the system calls, on all nodes, of addresses that hold() is true for. -1 (or MAP_FAILED) and
// errno. A part of a mapping, too. move(): as mremap(2); what is to grow moves (else ENOMEM), and
// never to an address of the program's choice (EINVAL).
int unmap(void* address, std::size_t bytes);
int protect(void* address, std::size_t bytes, int rights);
void* move(void* address, std::size_t before, std::size_t bytes, int flags);

}  // namespace terrane::frontend::threads::file_maps
