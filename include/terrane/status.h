/* What calls of Terrane return, in all its front-ends but OpenSHMEM. */
#ifndef TERRANE_STATUS_H
#define TERRANE_STATUS_H

#ifdef __cplusplus
#define TERRANE_NOEXCEPT noexcept
/* An enum that may hold any int: what is none of its names is refused, and not undefined. */
#define TERRANE_ANY_INT : int
#else
#define TERRANE_NOEXCEPT
#define TERRANE_ANY_INT
#endif
#define TERRANE_API __attribute__((visibility("default")))

typedef enum terrane_status {
  TERRANE_OK = 0,
  TERRANE_EINVAL = -1,     /* an argument is out of range */
  TERRANE_ESTATE = -2,     /* before the job was joined, after it was left, or twice */
  TERRANE_ENOMEM = -3,     /* no memory, or no address space, left */
  TERRANE_EADDR = -4,      /* the address is in no allocation, or was freed already */
  TERRANE_ENOTHELD = -5,   /* the lock is not held by this thread, the scope is not open */
  TERRANE_ESYSTEM = -6,    /* the machine refused something that Terrane needs */
  TERRANE_EBUSY = -7,      /* it cannot be had at once, which was asked for */
  TERRANE_ETIMEDOUT = -8,  /* it could not be had in time */
  TERRANE_EUNKNOWN = -9,   /* there is none of that name, or no more */
  TERRANE_EMISMATCH = -10, /* it exists, but is not as the call says */
  TERRANE_EENDED = -11,    /* there is no subscription, or no more */
  TERRANE_EWRITTEN = -12,  /* it is written once, and has been */
  TERRANE_EDIED = -13,     /* the node that it needs has died */
  TERRANE_EFULL = -14      /* the caller holds all that there is room for: it has to release some */
} terrane_status;

#endif
