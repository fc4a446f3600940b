// A library that takes its time to end, as the process exits.
#include <time.h>

__attribute__((destructor)) static void linger(void) {
  struct timespec left = {0, 300000000};
  nanosleep(&left, NULL);
}
