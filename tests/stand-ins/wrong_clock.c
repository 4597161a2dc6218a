/*
 * A clock that is wrong by WRONG_CLOCK seconds. To be preloaded behind the library, whose calls it
 * answers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*next)(clockid_t, struct timespec *);
    const char *seconds = getenv("WRONG_CLOCK");
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = next(clock, time);
    if (clock == CLOCK_REALTIME && seconds)
        time->tv_sec += atol(seconds);
    return code;
}
