/*
 * Random one-sided epochs, legal by construction, whose outcome is known.
 *
 *     one_sided_random SEED WINDOWS EPOCHS
 *
 * Every rank draws the same numbers, so that each knows what all others do. An epoch is a fence, a
 * lock of each target, a lock of all with flushes in it, or started for some ranks and posted by
 * others, as it comes. In it each rank
 * writes to cells that no other rank's puts touch in this epoch (a cell's owner is drawn), adds to
 * cells that take sums only, and makes sequences of accumulates whose order shows. Puts are of one
 * or several elements, of types with gaps and of contiguous types, large and small, of no elements,
 * to MPI_PROC_NULL, and with a request; gets and fetches that overlap follow flushes or
 * accumulates, as MPI has it; what a flush hands back is written over. The ranks' displacement
 * units differ. Windows are created, some of them with a second one over the same memory, in which
 * every epoch is in the one or the other; allocated, in a host's shared memory, too; or dynamic.
 * Where MPI has procedures with large counts, every second call is of those. After each epoch each
 * rank compares its memory with what it must be. Rank 0 prints the number of wrong cells of all.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 2048, SUMS = 1024, TURNS = 1536, MOST = 16 };
/* Cells 0 to SUMS are for puts, to TURNS for sums, the rest for accumulates in order. */

static int rank, ranks;
static long wrong;
static int32_t expected[MOST][CELLS], *memory;
static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

enum made { ALLOCATED, CREATED, DYNAMIC, SHARED, TWICE, WAYS };

/* The window of this epoch, and its ranks' displacement units. */
static MPI_Win window;
static int *unit;
static MPI_Aint base[MOST];
static int is_dynamic;

static MPI_Aint at(int target, int cell)
{
    return is_dynamic ? base[target] + 4 * (MPI_Aint)cell : 4 * (MPI_Aint)cell / unit[target];
}

#if MPI_VERSION >= 4
/* Calls so far; each has its own way to count. */
static unsigned long calls;
#endif

static void put_cells(const int32_t *from, int count, MPI_Datatype type, int target, MPI_Aint place, int cells)
{
#if MPI_VERSION >= 4
    if (calls++ % 2) {
        MPI_Put_c(from, count, type, target, place, cells, MPI_INT32_T, window);
        return;
    }
#endif
    MPI_Put(from, count, type, target, place, cells, MPI_INT32_T, window);
}

static void accumulate(const int32_t *from, int cells, int target, MPI_Aint place, MPI_Op op)
{
#if MPI_VERSION >= 4
    if (calls++ % 2) {
        MPI_Accumulate_c(from, cells, MPI_INT32_T, target, place, cells, MPI_INT32_T, op, window);
        return;
    }
#endif
    MPI_Accumulate(from, cells, MPI_INT32_T, target, place, cells, MPI_INT32_T, op, window);
}

/* Room for what is under way: nothing is written to twice in an epoch. */
static int32_t room[1 << 18];
static int used;
static int32_t *take(int cells)
{
    int32_t *taken = room + used;
    used += cells;
    if (used > (int)(sizeof room / sizeof *room))
        MPI_Abort(MPI_COMM_WORLD, 3);
    return taken;
}

/* What a flush may be for: all, or the target. */
enum kind { FENCE, LOCK, LOCK_ALL, START, KINDS };

/* Origins of puts and accumulates that are not complete, which a flush hands back to the program. */
static struct { int target, cells; int32_t *from; } under_way[1 << 15];
static int many_under_way;

static void goes_from(int target, int32_t *from, int cells)
{
    if (many_under_way == (int)(sizeof under_way / sizeof *under_way))
        MPI_Abort(MPI_COMM_WORLD, 3);
    under_way[many_under_way].target = target;
    under_way[many_under_way].cells = cells;
    under_way[many_under_way++].from = from;
}

/* Writes over what a flush of a target has handed back. */
static void handed_back(int target)
{
    int left = 0;
    for (int i = 0; i < many_under_way; i++)
        if (under_way[i].target == target)
            memset(under_way[i].from, 0x55, sizeof(int32_t) * (size_t)under_way[i].cells);
        else
            under_way[left++] = under_way[i];
    many_under_way = left;
}

static void maybe_flush(enum kind kind, int target, int me, uint32_t choice)
{
    if (!me || (kind != LOCK && kind != LOCK_ALL))
        return;
    switch (choice) {
    case 0: MPI_Win_flush(target, window); break;
    case 1: MPI_Win_flush_local(target, window); break;
    case 2: if (kind == LOCK_ALL) MPI_Win_flush_all(window); break;
    case 3: if (kind == LOCK_ALL) MPI_Win_flush_local_all(window); break;
    case 4: MPI_Win_sync(window); break;
    }
    /* After a flush of all MPICH 4.0 may still read them. */
    if (choice < 2)
        handed_back(target);
}

static void put(int me, int target, int first, int cells, uint32_t form, int32_t value)
{
    for (int i = 0; i < cells; i++)
        expected[target][first + i] = value + i;
    if (!me)
        return;
    int32_t *from = take(2 * cells + 1);
    goes_from(target, from, 2 * cells + 1);
    MPI_Datatype type;
    switch (form) {
    case 0: /* with gaps at the origin */
        for (int i = 0; i < cells; i++)
            from[2 * i] = value + i;
        MPI_Type_vector(cells, 1, 2, MPI_INT32_T, &type);
        MPI_Type_commit(&type);
        put_cells(from, 1, type, target, at(target, first), cells);
        MPI_Type_free(&type);
        break;
    case 1: /* a contiguous type of the program's */
        for (int i = 0; i < cells; i++)
            from[i] = value + i;
        MPI_Type_contiguous(cells, MPI_INT32_T, &type);
        MPI_Type_commit(&type);
        put_cells(from, 1, type, target, at(target, first), cells);
        MPI_Type_free(&type);
        break;
    case 2: { /* with a request */
        MPI_Request request;
        for (int i = 0; i < cells; i++)
            from[i] = value + i;
        MPI_Rput(from, cells, MPI_INT32_T, target, at(target, first), cells, MPI_INT32_T, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    }
    case 3: /* one by one, the last first */
        for (int i = cells - 1; i >= 0; i--) {
            from[i] = value + i;
            put_cells(from + i, 4, MPI_BYTE, target, at(target, first + i), 1);
        }
        break;
    default:
        for (int i = 0; i < cells; i++)
            from[i] = value + i;
        put_cells(from, cells, MPI_INT32_T, target, at(target, first), cells);
    }
}

/* Accumulates of one rank to one cell, whose order shows: sums, products and replacements. */
static void turns(int me, int target, int cell, uint32_t many)
{
    for (uint32_t i = 0; i < many; i++) {
        int32_t value = 1 + draw(5), *from = me ? take(1) : NULL, *back = me ? take(1) : NULL;
        uint32_t op = draw(5);
        int32_t *old = &expected[target][cell];
        if (me) {
            *from = value;
            goes_from(target, from, 1);
        }
        switch (op) {
        case 0:
            *old = value;
            if (me)
                accumulate(from, 1, target, at(target, cell), MPI_REPLACE);
            break;
        case 1:
            *old = (int32_t)((uint32_t)*old * (uint32_t)value);
            if (me)
                accumulate(from, 1, target, at(target, cell), MPI_PROD);
            break;
        case 2:
            *old = (int32_t)((uint32_t)*old + (uint32_t)value);
            if (me)
                MPI_Fetch_and_op(from, back, MPI_INT32_T, target, at(target, cell), MPI_SUM, window);
            break;
        default:
            *old = (int32_t)((uint32_t)*old + (uint32_t)value);
            if (me)
                accumulate(from, 1, target, at(target, cell), MPI_SUM);
        }
    }
}

static void access(enum kind kind, int origin, int target)
{
    int me = origin == rank;
    /* Its own part of the cells for puts, and of those for accumulates in order. */
    int part = SUMS / ranks, from = origin * part, end = from + part;
    for (int cell = from + (int)draw(8); cell < end;) {
        int cells = 1 + (int)draw(draw(6) ? 4 : 60);
        if (cell + cells > end)
            break;
        uint32_t form = draw(12), flush = draw(40), nothing = draw(20);
        int32_t value = (int32_t)(state >> 40);
        put(me, target, cell, cells, form, value);
        maybe_flush(kind, target, me, flush);
        if (me && nothing == 0)
            MPI_Put(room, 0, MPI_INT32_T, target, at(target, 0), 0, MPI_INT32_T, window);
        if (me && nothing == 1)
            MPI_Put(room, 4, MPI_INT32_T, MPI_PROC_NULL, 0, 4, MPI_INT32_T, window);
        if (me && nothing == 2 && (kind == LOCK || kind == LOCK_ALL)) {
            int32_t *back = take(1);
            MPI_Win_flush(target, window);
            MPI_Get(back, 1, MPI_INT32_T, target, at(target, cell), 1, MPI_INT32_T, window);
            MPI_Win_flush(target, window);
            wrong += *back != expected[target][cell];
        }
        cell += cells + (int)draw(6);
    }
    for (int i = 0; i < 30; i++) {
        int cell = SUMS + (int)draw(TURNS - SUMS - 8), cells = 1 + (int)draw(8);
        int32_t value = (int32_t)draw(1000), *one = me ? take(8) : NULL;
        for (int k = 0; k < cells; k++) {
            expected[target][cell + k] += value;
            if (me)
                one[k] = value;
        }
        if (me)
            goes_from(target, one, 8);
        if (me)
            accumulate(one, cells, target, at(target, cell), MPI_SUM);
    }
    int own = (CELLS - TURNS) / ranks, first = TURNS + origin * own;
    for (int i = 0; i < 6; i++)
        turns(me, target, first + (int)draw((uint32_t)own), 1 + draw(6));
}

/* Compares after an epoch of this kind, in a window that was made so. */
static void check(enum kind of, enum made made)
{
    static const char *kinds[KINDS] = {"fence", "lock", "lock of all", "start"};
    static const char *windows[WAYS] = {"allocated", "created", "dynamic", "shared", "doubled"};
    for (int cell = 0; cell < CELLS; cell++)
        if (memory[cell] != expected[rank][cell]) {
            if (!wrong++)
                fprintf(stderr, "rank %d, cell %d: %d and not %d, %s, %s window\n", rank, cell, memory[cell],
                        expected[rank][cell], kinds[of], windows[made]);
        }
}

/* The ranks that are marked. */
static MPI_Group group_of(const int *is_in, MPI_Group all)
{
    int members[MOST], count = 0;
    MPI_Group group;
    for (int one = 0; one < ranks; one++)
        if (is_in[one])
            members[count++] = one;
    MPI_Group_incl(all, count, members, &group);
    return group;
}

static void epoch(enum kind kind, MPI_Group all, enum made made)
{
    /* Whom this rank reaches, and who reaches it. */
    int reaches[MOST][MOST], targets[MOST], origins[MOST], is_done = 0;
    MPI_Group to = MPI_GROUP_NULL, from = MPI_GROUP_NULL;
    for (int origin = 0; origin < ranks; origin++)
        for (int target = 0; target < ranks; target++)
            reaches[origin][target] = draw(3) > 0;
    for (int one = 0; one < ranks; one++) {
        targets[one] = reaches[rank][one];
        origins[one] = reaches[one][rank];
    }
    used = many_under_way = 0;
    if (kind == FENCE)
        MPI_Win_fence(0, window);
    if (kind == LOCK_ALL)
        MPI_Win_lock_all(0, window);
    if (kind == START) {
        to = group_of(targets, all);
        from = group_of(origins, all);
        MPI_Win_post(from, 0, window);
        MPI_Win_start(to, 0, window);
    }
    for (int origin = 0; origin < ranks; origin++)
        for (int target = 0; target < ranks; target++) {
            if (!reaches[origin][target])
                continue;
            if (kind == LOCK && origin == rank)
                MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
            access(kind, origin, target);
            if (kind == LOCK && origin == rank)
                MPI_Win_unlock(target, window);
        }
    if (kind == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    if (kind == LOCK_ALL)
        MPI_Win_unlock_all(window);
    if (kind == START) {
        MPI_Win_complete(window);
        if (rank % 2)
            MPI_Win_wait(window);
        while (rank % 2 == 0 && !is_done)
            MPI_Win_test(window, &is_done);
        MPI_Group_free(&to);
        MPI_Group_free(&from);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    check(kind, made);
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4 || ranks > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    state = strtoull(argv[1], NULL, 10);
    int windows = atoi(argv[2]), epochs = atoi(argv[3]);
    const MPI_Aint size = sizeof(int32_t[CELLS]);
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < windows; i++) {
        enum made made = (enum made)draw(WAYS);
        MPI_Win both[2];
        int units[2][MOST], windows_here = 1;
        is_dynamic = made == DYNAMIC;
        for (int which = 0; which < 2; which++)
            for (int of = 0; of < ranks; of++)
                units[which][of] = 1 << draw(3);
        unit = units[0];
        memset(expected, 0, sizeof expected);
        memory = made == ALLOCATED || made == SHARED ? NULL : malloc(size);
        switch (made) {
        case ALLOCATED: MPI_Win_allocate(size, unit[rank], MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &both[0]); break;
        case SHARED: MPI_Win_allocate_shared(size, unit[rank], MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &both[0]); break;
        case DYNAMIC:
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &both[0]);
            MPI_Win_attach(both[0], memory, size);
            break;
        default:
            windows_here = made == TWICE ? 2 : 1;
            for (int which = 0; which < windows_here; which++)
                MPI_Win_create(memory, size, units[which][rank], MPI_INFO_NULL, MPI_COMM_WORLD, &both[which]);
        }
        window = both[0];
        MPI_Aint address;
        MPI_Get_address(memory, &address);
        MPI_Allgather(&address, 1, MPI_AINT, base, 1, MPI_AINT, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
        memset(memory, 0, (size_t)size);
        MPI_Win_unlock(rank, window);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int e = 0; e < epochs; e++) {
            int which = (int)draw((uint32_t)windows_here);
            window = both[which];
            unit = units[which];
            epoch((enum kind)draw(KINDS), all, made);
        }
        if (is_dynamic)
            MPI_Win_detach(both[0], memory);
        for (int which = 0; which < windows_here; which++)
            MPI_Win_free(&both[which]);
        if (made != ALLOCATED && made != SHARED)
            free(memory);
    }
    MPI_Group_free(&all);
    long sum;
    MPI_Reduce(&wrong, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld wrong\n", sum);
    MPI_Finalize();
    return 0;
}
