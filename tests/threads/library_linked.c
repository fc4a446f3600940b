// A library that a program is linked with, for library_program.c: state, memory and a lock of its
// own. Its file's name begins as that of a library which Terrane itself loads.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct state {
  char* text;
  long calls;
};
static struct state* known[4];  // only what make_state has made is used
static long made;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct state* make_state(const char* text) {
  struct state* state = malloc(sizeof *state);
  state->text = strdup(text);
  state->calls = 0;
  pthread_mutex_lock(&mutex);
  known[made++ % 4] = state;
  pthread_mutex_unlock(&mutex);
  return state;
}

// -1: it is none of ours.
long use_state(struct state* state) {
  long calls = -1;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 4; ++i)
    if (known[i] == state) calls = ++state->calls;
  pthread_mutex_unlock(&mutex);
  return calls;
}

long states_made(void) { return made; }
