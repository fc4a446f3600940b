dnl The parallel macros of Argonne National Laboratory for m4: `m4 anl.m4 program.C >program.c`, then compile with
dnl terrane/anl.h in the include path. -DSPLASH2 selects Splash-2's convention; Splash-3's is the default.
dnl Every statement is a block of its own, since SPLASH sources leave out the semicolon after some; so `if (a) LOCK(b);
dnl else` does not compile. The header documents each macro.
divert(-1)

# Words of m4 that C programs use for their own functions and variables.
undefine(`len', `index', `shift', `unix', `__unix__', `linux', `format', `substr', `eval', `incr', `decr', `regexp',
         `patsubst', `translit', `maketemp', `mkstemp', `syscmd', `esyscmd', `sysval', `indir', `builtin', `debugmode')

# Whole programs
define(`TERRANE_ANL_INCLUDE', `
#define TERRANE_ANL_BY_M4
ifdef(`SPLASH2', `#define TERRANE_ANL_SPLASH2')
#include <terrane/anl.h>
#ifndef PAGE_SIZE
#define PAGE_SIZE 4096 /* LU pads its blocks to it */
#endif
')
define(`MAIN_ENV', defn(`TERRANE_ANL_INCLUDE'))
define(`EXTERN_ENV', defn(`TERRANE_ANL_INCLUDE'))
define(`ENV', `')
define(`INCLUDES', defn(`TERRANE_ANL_INCLUDE'))
define(`MAIN_INITENV', `{;}')
define(`MAIN_END', `{exit(0);}')

# Threads and barriers
define(`NEWPROC', `')
define(`WAIT_FOR_END', `{terrane_anl_wait_for_end($1);}')
ifdef(`SPLASH2', `
define(`CREATE', `{terrane_anl_create((void (*)(void))($1), 1);}')
define(`BARINIT', `{terrane_anl_barrier_init(&($1), 0);}')
define(`BARRIER', `{terrane_anl_barrier_wait(&($1), (unsigned)($2), 0);}')
', `
define(`CREATE', `{terrane_anl_create((void (*)(void))($1), ($2) - 1); ($1)();}')
define(`BARINIT', `{terrane_anl_barrier_init(&($1), (unsigned)($2));}')
define(`BARRIER', `{terrane_anl_barrier_wait(&($1), (unsigned)($2), 1);}')
')
define(`BARDEC', `struct terrane_anl_barrier $1;')
define(`BARINCLUDE', `{;}')
define(`BAREXCLUDE', `{;}')

# Memory. SPLASH sources leave out the semicolon after G_MALLOC, too; G_MALLOC_F is an expression.
define(`G_MALLOC', `malloc($1);')
define(`G_MALLOC_F', `malloc($1)')
define(`G_FREE', `{free($1);}')
define(`NU_MALLOC', `malloc($1);')
define(`NU_MALLOC_F', `malloc($1)')
define(`NU_FREE', `{free($1);}')
define(`GET_HOME', `{($1) = 0;}')
define(`SET_HOME', `{;}')
define(`GET_PID', `{($1) = getpid();}')

# Locks, alone, in arrays, and with names
define(`LOCKDEC', `pthread_mutex_t $1;')
define(`LOCKINIT', `{terrane_anl_locks_init(&($1), 1);}')
define(`LOCK', `{pthread_mutex_lock(&($1));}')
define(`UNLOCK', `{pthread_mutex_unlock(&($1));}')
define(`ALOCKDEC', `pthread_mutex_t $1[$2];')
define(`ALOCKINIT', `{terrane_anl_locks_init(($1), ($2));}')
define(`ALOCK', `{pthread_mutex_lock(&($1)[$2]);}')
define(`AULOCK', `{pthread_mutex_unlock(&($1)[$2]);}')
define(`AGETL', `(($1)[$2])')
define(`NLOCKDEC', defn(`LOCKDEC'))
define(`NLOCKINIT', defn(`LOCKINIT'))
define(`NLOCK', defn(`LOCK'))
define(`NUNLOCK', defn(`UNLOCK'))

# Events and conditions
ifdef(`SPLASH2', `
define(`PAUSEDEC', `struct terrane_anl_pause $1;')
define(`PAUSEINIT', `{terrane_anl_pause_init(&($1));}')
define(`SETPAUSE', `{terrane_anl_pause_set(&($1), 1);}')
define(`CLEARPAUSE', `{terrane_anl_pause_set(&($1), 0);}')
define(`WAITPAUSE', `{terrane_anl_pause_wait(&($1));}')
', `
define(`PAUSEDEC', `sem_t $1;')
define(`PAUSEINIT', `{sem_init(&($1), 0, 0);}')
define(`SETPAUSE', `{sem_post(&($1));}')
define(`CLEARPAUSE', `{;}')
define(`WAITPAUSE', `{terrane_anl_semaphore_wait(&($1));}')
')
define(`PAUSE', `{;}')
define(`EVENT', `{;}')
define(`CONDVARDEC', `pthread_cond_t $1;')
define(`CONDVARINIT', `{pthread_cond_init(&($1), NULL);}')
define(`CONDVARWAIT', `{pthread_cond_wait(&($1), &($2));}')
define(`CONDVARSIGNAL', `{pthread_cond_signal(&($1));}')
define(`CONDVARBCAST', `{pthread_cond_broadcast(&($1));}')

# Subscripts that threads share
define(`GSDEC', `struct terrane_anl_subscripts $1;')
define(`GSINIT', `{terrane_anl_subscripts_init(&($1));}')
define(`GETSUB', `{($2) = terrane_anl_subscripts_next(&($1), ($3), (unsigned)($4));}')
define(`NU_GSDEC', defn(`GSDEC'))
define(`NU_GSINIT', defn(`GSINIT'))
define(`NU_GETSUB', defn(`GETSUB'))

# Time and order
define(`CLOCK', `{($1) = terrane_anl_clock();}')
define(`ACQUIRE_FENCE', `{__atomic_thread_fence(__ATOMIC_ACQUIRE);}')
define(`RELEASE_FENCE', `{__atomic_thread_fence(__ATOMIC_RELEASE);}')
define(`FULL_FENCE', `{__atomic_thread_fence(__ATOMIC_SEQ_CST);}')

# What only simulators and tracers listen to
define(`AUG_ON', `')
define(`AUG_OFF', `')
define(`AUG_SET_LOLIMIT', `{;}')
define(`AUG_SET_HILIMIT', `{;}')
define(`AUG_DELAY', `{sleep($1);}')
define(`TRACE_ON', `')
define(`TRACE_OFF', `')
define(`REF_TRACE_ON', `')
define(`REF_TRACE_OFF', `')
define(`DYN_TRACE_ON', `')
define(`DYN_TRACE_OFF', `')
define(`DYN_REF_TRACE_ON', `')
define(`DYN_REF_TRACE_OFF', `')
define(`DYN_SIM_ON', `')
define(`DYN_SIM_OFF', `')
define(`DYN_SCHED_ON', `')
define(`DYN_SCHED_OFF', `')
define(`ST_LOG', `{;}')
define(`SPLASH3_ROI_BEGIN', `')
define(`SPLASH3_ROI_END', `')
divert(0)dnl
