/*
 * Says which algorithms of Open MPI's collectives run: functions of its library that its component
 * `tuned` calls, in the order of their first call. To be preloaded; rank 0 writes a line for each
 * to standard error at its end:
 *
 *     algorithm bcast_intra_binomial 3
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 64

static struct {
    const char *name;
    int calls;
} seen[LARGEST];

static void count(const char *name)
{
    int place = 0;
    while (place < LARGEST - 1 && seen[place].name && strcmp(seen[place].name, name))
        place++;
    seen[place].name = name;
    seen[place].calls++;
}

__attribute__((destructor)) static void say(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank || strcmp(rank, "0"))
        return;
    for (int place = 0; place < LARGEST && seen[place].name; place++)
        fprintf(stderr, "algorithm %s %d\n", seen[place].name, seen[place].calls);
}

/* Numbers and addresses are passed on alike, as many as the longest of these functions has. */
typedef long word;
typedef int function(word, word, word, word, word, word, word, word, word, word);

#define ALGORITHM(NAME)                                                                           \
    int ompi_coll_base_##NAME(word a, word b, word c, word d, word e, word f, word g, word h,      \
                              word i, word j);                                                     \
    int ompi_coll_base_##NAME(word a, word b, word c, word d, word e, word f, word g, word h,      \
                              word i, word j)                                                      \
    {                                                                                              \
        static function *real;                                                                     \
        if (!real)                                                                                 \
            *(void **)&real = dlsym(RTLD_NEXT, "ompi_coll_base_" #NAME);                           \
        count(#NAME);                                                                              \
        return real(a, b, c, d, e, f, g, h, i, j);                                                 \
    }

ALGORITHM(bcast_intra_basic_linear)
ALGORITHM(bcast_intra_binomial)
ALGORITHM(bcast_intra_bintree)
ALGORITHM(bcast_intra_chain)
ALGORITHM(bcast_intra_knomial)
ALGORITHM(bcast_intra_pipeline)
ALGORITHM(bcast_intra_split_bintree)
ALGORITHM(allreduce_intra_basic_linear)
ALGORITHM(allreduce_intra_nonoverlapping)
ALGORITHM(allreduce_intra_recursivedoubling)
ALGORITHM(allreduce_intra_redscat_allgather)
ALGORITHM(allgather_intra_ring)
ALGORITHM(allgather_intra_bruck)
ALGORITHM(allgather_intra_recursivedoubling)
ALGORITHM(allgather_intra_basic_linear)
ALGORITHM(scan_intra_linear)
ALGORITHM(scan_intra_recursivedoubling)
ALGORITHM(scatter_intra_basic_linear)
ALGORITHM(scatter_intra_binomial)
