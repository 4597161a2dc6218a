/*
 * Small wrong programs, in the classes of errors that collections of wrong MPI programs have: one
 * for each case.
 *
 *     erroneous CASE
 *     erroneous list
 *
 * With `list` it tells its cases, a line for each: on how many ranks, and the name. Nothing is
 * said of what becomes of a case: an MPI runs it to its end, ends it, or hangs.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ints, of which an MPI doesn't put aside a message. */
enum { FEW = 4, MANY = 1 << 20 };

static int rank, size;
static const MPI_Comm world = MPI_COMM_WORLD;
/* No message is longer, whatever it is taken for. */
static int out[2 * MANY], in[2 * MANY];
static MPI_Request request = MPI_REQUEST_NULL;

static void say(const char *what, int number)
{
    printf("%d: %s %d\n", rank, what, number);
    fflush(stdout);
}

static MPI_Comm duplicate(void)
{
    MPI_Comm made;
    MPI_Comm_dup(world, &made);
    return made;
}

static void wait_for_it(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#include "erroneous/arguments.h"
#include "erroneous/endings.h"
#include "erroneous/leaks.h"
#include "erroneous/matching.h"
#include "erroneous/ordering.h"
#include "erroneous/races.h"
#include "erroneous/requests.h"
#include "erroneous/windows.h"

struct erroneous {
    const char *name;
    void (*run)(void);
    int ranks;
};

/* Those that end in the way that they say, before or after main would. */
static const struct erroneous endings[] = {ENDINGS};
static const struct erroneous cases[] = {ARGUMENTS LEAKS MATCHING ORDERING RACES REQUESTS WINDOWS};

#define COUNT(array) (sizeof array / sizeof *array)

static const struct erroneous *find(const struct erroneous *all, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

static void list(const struct erroneous *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%d %s\n", all[i].ranks, all[i].name);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "list";
    const struct erroneous *one;
    if (!strcmp(name, "list")) {
        list(endings, COUNT(endings));
        list(cases, COUNT(cases));
        return 0;
    }
    if ((one = find(endings, COUNT(endings), name))) {
        one->run();
        return 0;
    }
    if (!(one = find(cases, COUNT(cases), name))) {
        fprintf(stderr, "erroneous: there is no case %s\n", name);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    one->run();
    say("finalises", 0);
    MPI_Finalize();
    return 0;
}
