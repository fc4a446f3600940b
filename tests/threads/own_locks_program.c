/* Uses a library that has a pthread_mutex_lock of its own. */
int own_locks(void);
int main(void) { return own_locks(); }
