// Ends of programs that read standard input and write standard output, in main or in a thread
// (actor.h), whatever the two are.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "actor.h"

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return 1;
}

static int copy_by_bytes(int result) {
  for (int c = getchar(); c != EOF; c = getchar()) putchar(c);
  return ferror(stdin) ? fail("getchar") : result;
}

static int copy_by_lines(int result) {
  char* line = NULL;
  size_t room = 0;
  int lines = 0;
  for (; getline(&line, &room, stdin) >= 0; ++lines) fputs(line, stdout);
  printf("%d lines\n", lines);
  free(line);
  return ferror(stdin) ? fail("getline") : result;
}

static int copy_by_calls(int result) {
  char text[4096];
  ssize_t got = 0;
  while ((got = read(STDIN_FILENO, text, sizeof text)) > 0)
    if (write(STDOUT_FILENO, text, (size_t)got) != got) return fail("write");
  return got < 0 ? fail("read") : result;
}

static int copy_by_blocks(int result) {
  char text[1000];
  size_t got = 0;
  while ((got = fread(text, 1, sizeof text, stdin)) > 0) fwrite(text, 1, got, stdout);
  return ferror(stdin) ? fail("fread") : result;
}

static int read_one_line(int result) {
  char line[100];
  if (fgets(line, sizeof line, stdin) == NULL) return 2;
  fputs(line, stdout);
  return result;
}

static int read_one_line_unbuffered(int result) {
  setvbuf(stdin, NULL, _IONBF, 0);
  return read_one_line(result);
}

static int scan(int result) {
  int number = 0, sum = 0;
  while (scanf("%d", &number) == 1) sum += number;
  printf("sum %d, at the end %d\n", sum, feof(stdin) != 0);
  return result;
}

static int push_back(int result) {
  int c = getchar();
  ungetc(c, stdin);
  printf("%d %d\n", c, getchar() == c);
  return result;
}

static int write_lines(int lines) {
  for (int i = 0; i < lines; ++i) printf("line %d of many\n", i);
  return fflush(stdout) != 0 ? fail("fflush") : 0;
}

static int write_unchecked(int lines) {
  for (int i = 0; i < lines; ++i) printf("line %d of many\n", i);
  return 0;
}

static int write_until_error(int lines) {
  for (int i = 0; i < lines; ++i)
    if (printf("line %d of many\n", i) < 0) return fail("printf");
  return ferror(stdout) ? 3 : 0;
}

static int write_without_signal(int lines) {
  signal(SIGPIPE, SIG_IGN);
  return write_lines(lines);
}

static int write_unbuffered(int lines) {
  setvbuf(stdout, NULL, _IONBF, 0);
  return write_until_error(lines);
}

static int write_and_close(int lines) {
  write_unchecked(lines);
  return fclose(stdout) != 0 ? fail("fclose") : 4;
}

static int write_by_calls(int lines) {
  for (int i = 0; i < lines; ++i)
    if (write(STDOUT_FILENO, "a line\n", 7) != 7) return fail("write");
  return 5;
}

static int write_block(int kilobytes) {
  size_t bytes = (size_t)kilobytes << 10;
  char* block = malloc(bytes);
  for (size_t i = 0; i < bytes; ++i) block[i] = (char)(i * 7 + i / 256);
  size_t written = fwrite(block, 1, bytes, stdout);
  free(block);
  return written == bytes && fflush(stdout) == 0 ? 0 : fail("fwrite");
}

static int write_wide(int result) { return printf("%ls\n", L"wide") < 0 ? fail("printf") : result; }

static int say_on_both(int lines) {
  for (int i = 0; i < lines; ++i) printf("out %d\n", i), fprintf(stderr, "err %d\n", i);
  return 0;
}

static int end_without_newline(int how) {
  printf("no newline");
  if (how == 1) exit(6);
  if (how == 2) fflush(stdout), _exit(7);
  if (how == 3) fflush(stdout), abort();
  if (how == 4) quick_exit(8);
  return 9;
}

// What is lost, is lost.
static int end_unflushed(int how) {
  printf("not flushed\n");
  if (how == 0) _exit(10);
  if (how == 1) quick_exit(11);
  if (how == 2) abort();
  if (how == 3) raise(SIGKILL);
  if (how == 4) raise(SIGTERM);
  return 12;
}

static int close_number(int fd) {
  close(fd);
  if (printf("after close\n") < 0 || fflush(stdout) != 0) return fail("printf");
  return 13;
}

static int close_stream(int result) {
  fclose(stdout);
  fputs("closed\n", stderr);
  return result;
}

static int move_to_file(int how) {
  char name[] = "/tmp/terrane_ends_XXXXXX", text[100];
  int fd = mkstemp(name);
  if (how == 0) dup2(fd, STDOUT_FILENO);
  if (how == 1 && freopen(name, "w", stdout) == NULL) return fail("freopen");
  printf("into the file\n");
  fflush(stdout);
  lseek(fd, 0, SEEK_SET);
  ssize_t got = read(fd, text, sizeof text);
  fprintf(stderr, "%zd bytes are in the file\n", got);
  unlink(name);
  return 14;
}

static int say_what_it_is(int number) {
  struct winsize window;
  struct termios terminal;
  struct stat facts;
  for (int fd = 0; fd < 3; ++fd) {
    errno = 0;
    int is_open = fstat(fd, &facts) == 0;
    printf("%d: terminal %d, open %d, kind %o\n", fd, isatty(fd), is_open,
           is_open ? facts.st_mode & S_IFMT : 0);
  }
  printf("window %d, settings %d, group %d\n", ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0,
         tcgetattr(STDIN_FILENO, &terminal) == 0, tcgetpgrp(STDIN_FILENO) == getpgrp());
  return number;
}

static const Way kWays[] = {{"copy_by_bytes", copy_by_bytes},
                            {"copy_by_lines", copy_by_lines},
                            {"copy_by_calls", copy_by_calls},
                            {"copy_by_blocks", copy_by_blocks},
                            {"one_line", read_one_line},
                            {"one_line_unbuffered", read_one_line_unbuffered},
                            {"scan", scan},
                            {"push_back", push_back},
                            {"lines", write_lines},
                            {"unchecked", write_unchecked},
                            {"until_error", write_until_error},
                            {"without_signal", write_without_signal},
                            {"unbuffered", write_unbuffered},
                            {"and_close", write_and_close},
                            {"by_calls", write_by_calls},
                            {"block", write_block},
                            {"wide", write_wide},
                            {"both", say_on_both},
                            {"without_newline", end_without_newline},
                            {"unflushed", end_unflushed},
                            {"close_number", close_number},
                            {"close_stream", close_stream},
                            {"move", move_to_file},
                            {"what", say_what_it_is},
                            {NULL, NULL}};

int main(int argc, char** argv) { return run_way(kWays, argc, argv); }
