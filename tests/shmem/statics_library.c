/* A library with static data, which programs are linked with. It needs nothing of OpenSHMEM. */
#include <stdio.h>
#include <string.h>

long library_initialised = 11;
long library_zero[1000];
static long hidden = 12;
int library_constructed_in_shared_memory = 0;

/* Whether its data are in shared memory by the time that constructors run. */
__attribute__((constructor)) static void look(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  unsigned long begin = 0, end = 0, here = (unsigned long)&library_initialised;
  char rest[512];
  while (maps != NULL && fscanf(maps, "%lx-%lx %511[^\n]", &begin, &end, rest) == 3)
    if (begin <= here && here < end)
      library_constructed_in_shared_memory = strstr(rest, "terrane-statics") != NULL;
  if (maps != NULL) fclose(maps);
}

long* library_hidden(void) { return &hidden; }
