// Executes itself or another program, as the first argument says, and prints how many processes
// its threads run in then.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum { kThreads = 6 };

static long processes[kThreads];
static pthread_barrier_t all_run;  // so that each thread takes a place of its own

static void* note_process(void* to) {
  *(long*)to = syscall(SYS_getpid);
  pthread_barrier_wait(&all_run);
  return NULL;
}

static int count_processes(void) {
  pthread_t threads[kThreads];
  int count = 0;
  pthread_barrier_init(&all_run, NULL, kThreads);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, note_process, &processes[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) {
    int earlier = 0;
    while (processes[earlier] != processes[i]) ++earlier;
    count += earlier == i;
  }
  return count;
}

static void* execute_in_thread(void* path) {
  execl(path, path, "count", NULL);
  printf("refused: %s\n", errno == ENOTSUP ? "ENOTSUP" : "another error");
  return NULL;
}

static int run_children(void) {
  char* words[] = {"sh", "-c", "echo spawned; exit 3", NULL};
  pid_t child;
  int status = 0;
  if (system("echo by system") != 0) return 1;
  if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) != 0) return 1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// A copy of the program that has no name.
static int execute_nameless(char** argv) {
  char bytes[4096];
  int from = open(argv[0], O_RDONLY), copy = memfd_create("copy", 0);
  for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;)
    if (write(copy, bytes, got) != got) return 8;
  fexecve(copy, argv, environ);
  return 9;
}

static int fails_with(int result, int error) { return result == -1 && errno == error; }

static int execute_bad_files(char** argv) {
  char link[] = "/proc/self/exe";
  int file = open("/dev/null", O_RDONLY);
  int good = fails_with(fexecve(-1, argv, environ), EINVAL) &&
             fails_with(fexecve(1000, argv, environ), EBADF) &&
             fails_with(fexecve(file, argv, NULL), EINVAL) &&
             fails_with(execveat(AT_FDCWD, "", argv, environ, AT_EMPTY_PATH), EACCES) &&
             fails_with(fexecve(file, argv, environ), EACCES) &&
             fails_with(execveat(-1, "program", argv, environ, 0), EBADF) &&
             fails_with(execveat(AT_FDCWD, "", argv, environ, 0), ENOENT) &&
             fails_with(execveat(AT_FDCWD, "/nowhere", argv, environ, 0), ENOENT) &&
             fails_with(execveat(AT_FDCWD, link, argv, environ, AT_SYMLINK_NOFOLLOW), ELOOP) &&
             fails_with(execveat(AT_FDCWD, link, argv, environ, 1 << 20), EINVAL);
  puts(good ? "good" : "bad");
  return !good;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "count") == 0) {
    const char* again = getenv("AGAIN");
    printf("%d, %s, %s\n", count_processes(), again == NULL ? "" : again, argc > 2 ? argv[2] : "");
    return argc > 3 ? atoi(argv[3]) : 0;
  }
  setenv("AGAIN", "a variable", 1);
  setenv("LD_LIBRARY_PATH", "/nowhere", 1);
  argv[1] = "count";
  if (strcmp(how, "execv") == 0) execv("/proc/self/exe", argv);
  if (strcmp(how, "execvp") == 0) execvp(argv[0], argv);
  if (strcmp(how, "execl") == 0) execl(argv[0], argv[0], "count", argv[2], NULL);
  if (strcmp(how, "execle") == 0) {
    char* none[] = {NULL};
    execle(argv[0], argv[0], "count", argv[2], NULL, none);
  }
  if (strcmp(how, "fexecve") == 0)
    fexecve(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), argv, environ);
  if (strcmp(how, "execveat") == 0) {  // by its folder
    char* name = strrchr(argv[0], '/');
    *name = '\0';
    int folder = open(argv[0], O_RDONLY | O_DIRECTORY);
    *name = '/';
    execveat(folder, name + 1, argv, environ, 0);
  }
  if (strcmp(how, "by_number") == 0) syscall(SYS_execve, argv[0], argv, environ);
  if (strcmp(how, "at_by_number") == 0) syscall(SYS_execveat, AT_FDCWD, argv[0], argv, environ, 0);
  if (strcmp(how, "execveat_empty") == 0)
    execveat(open(argv[0], O_PATH), "", argv, environ, AT_EMPTY_PATH);
  if (strcmp(how, "nameless") == 0) return execute_nameless(argv);
  if (strcmp(how, "bad_files") == 0) return execute_bad_files(argv);
  if (strcmp(how, "missing") == 0) {
    execl("/nowhere/program", "program", NULL);
    printf("%s\n", strerror(errno));
    return count_processes() == 0;
  }
  if (strcmp(how, "last") == 0) {
    count_processes();
    execlp("sh", "sh", "-c", "echo last", NULL);
  }
  if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, execute_in_thread, argv[0]);
    pthread_join(thread, NULL);
    return 0;
  }
  if (strcmp(how, "children") == 0) return run_children();
  return 9;
}
