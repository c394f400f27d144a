/* What the programs of the tests ask, and how they end if it is not so. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A program that hangs ends. */
__attribute__((constructor)) static void watch(void) {
    alarm(240);
}

#define CHECK(what)                                                                         \
    do {                                                                                    \
        if (!(what)) {                                                                      \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);              \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

/* A status, which has to be this one. */
#define RETURNS(expected, call)                                                             \
    do {                                                                                    \
        const int found_status = call, wanted_status = expected;                            \
        if (found_status != wanted_status) {                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                   \
                    annulus_strerror(found_status));                                        \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

#define WORKS(call) RETURNS(ANNULUS_OK, call)

/* A thread that runs `work` with `argument`. */
#define SPAWN(thread, work, argument) CHECK(pthread_create(thread, NULL, work, argument) == 0)
#define JOIN(thread) CHECK(pthread_join(thread, NULL) == 0)

#endif
