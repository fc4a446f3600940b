// Threads that number the lines of one file under a mutex: main_file_program WAY FILE [LINES]. What
// is in the file is the same in every run.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kThreads = 4 };

static const char *way, *path;
static FILE* out;
static int lines = 6000, number, mistakes;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int is_way(const char* name) { return !strcmp(way, name); }

// Every thread finds what all have written before it.
static void look(void) {
  struct stat facts;
  if (number % 50 != 0) return;
  if (fflush(out) != 0 || stat(path, &facts) != 0 || facts.st_size != ftell(out)) ++mistakes;
}

// The file belongs to another thread then, and maybe to another node.
static void reopen(void) {
  if (number % 100 != 0) return;
  if (fclose(out) != 0) ++mistakes;
  out = fopen(path, "a");
}

static void write_line(void) {
  if (is_way("parts")) {
    fputs("line ", out);
    fprintf(out, "%d", number);
    putc('\n', out);
  } else {
    fprintf(out, "line %d %0*d\n", number, 1 + number % 40, 0);
  }
  ++number;
  if (is_way("looks")) look();
  if (is_way("reopens")) reopen();
  if (is_way("overwrites") && number % 100 == 0) fseek(out, number % 200 - 100, SEEK_END);
}

static void* work(void* argument) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    int done = number >= lines;
    if (!done) write_line();
    pthread_mutex_unlock(&mutex);
    if (done && is_way("thread_exits")) exit(3);
    if (done) return argument;
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  way = argv[1], path = argv[2];
  if (argc > 3) lines = atoi(argv[3]);
  out = fopen(path, "w");
  if (is_way("by_lines")) setvbuf(out, NULL, _IOLBF, 0);
  if (is_way("unbuffered")) setvbuf(out, NULL, _IONBF, 0);
  fputs("header\n", out);
  pthread_t threads[kThreads];
  for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, work, NULL);
  if (is_way("main_too")) work(NULL);
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  fputs("trailer\n", out);
  if (is_way("never_closed")) return 0;
  if (is_way("error")) return ferror(out) != 0 ? 4 : 5;
  if (fclose(out) != 0) return 6;
  return mistakes != 0 ? 7 : 0;
}
