#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "frontend/threads/control.h"

// What a program of several nodes writes to streams, in the order in which the program does it
// (decision 0056). Each node has buffers of its own: that of standard output, and texts for streams
// that another node has opened. They are empty before an operation by which another thread may
// learn what the calling thread has done.
namespace terrane::frontend::threads {

// The file of this node's standard output or error.
OutputFile output_file(int fd);
// Whether another node writes to its own output instead of node 0's: it is the same file.
bool is_same_output(const OutputFile& first, const OutputFile& other, bool same_host);

// From now on operations of this node send its output first. Every node, before it has threads.
void share_output();

// Text for a stream of that other node. False: a text for it was not written; errno says why.
bool append_output(std::uint32_t node, std::FILE* stream, const void* text, std::size_t bytes);
// Text for this node's standard output, which other nodes write to as well: it is not cut in two.
std::size_t put_output(std::FILE* stream, const void* text, std::size_t bytes);
// Sends the texts for that stream. False: one was not written; errno says why. nullptr: for all.
bool send_output(std::FILE* stream);
// setvbuf(3) of standard output or error on this node.
void set_buffer_of_output(std::FILE* stream, int mode, std::size_t bytes);

// The calling thread locks a stream against all threads of the program (flockfile). False: it only
// tries, and another thread has it.
bool lock_stream(std::FILE* stream, bool waits);
void unlock_stream(std::FILE* stream);
// The calling thread has locked this node's standard output, or is about to unlock it.
void stdout_is_locked();
void stdout_is_unlocked();

// Writes what all streams hold, at the end of the program. Every node.
void flush_output();
// In a signal handler that ends the process: what standard output holds.
void flush_output_of_crash();

}  // namespace terrane::frontend::threads
