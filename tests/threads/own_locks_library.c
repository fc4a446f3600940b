/* A library with a function of the C library's threads of its own. */
#include <pthread.h>

int pthread_mutex_lock(pthread_mutex_t* mutex) { return mutex == NULL; }
int own_locks(void) { return 0; }
