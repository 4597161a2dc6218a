/*
 * Every one-sided call, on every kind of window, with what a profile of it must
 * say.
 *
 * Each call goes from each rank to the one `shift` further on; sizes differ from
 * call to call and rank to rank. The program keeps its own account of what moves,
 * in ranks of MPI_COMM_WORLD, and prints it as two dense matrices: a put moves
 * data from the origin (row) to the target (column), a get from the target (row)
 * to the origin (column), and what does both is one message each way. What
 * arrives is compared with what was there. A third matrix has the calls that only
 * get: some implementations send a request for them.
 *
 *     one_sided [no-op]
 *
 * With `no-op`, calls with MPI_NO_OP are made and nothing else: they only get.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 64, FIRST = 1, LONGEST = 20 };

static int world_rank, world_size;
/* From each rank to each, as this rank caused them. */
static long long *messages, *bytes, *requests;
static int failures, call_number;

static void move(int from, int to, long long size)
{
    messages[from * world_size + to] += 1;
    bytes[from * world_size + to] += size;
}

static void put(int target, long long size) { move(world_rank, target, size); }
static void got(int target, long long size) { move(target, world_rank, size); }

static void check(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "one_sided: rank %d: %s is wrong in call %d\n", world_rank, what, call_number);
        failures++;
    }
}

/* A window, the target of this rank's calls, and who that is in the world. */
struct place {
    MPI_Win window;
    MPI_Aint at; /* displacement of cell 0 at the target */
    MPI_Aint unit; /* displacement of one cell */
    int rank, target;                     /* mine, and whom I reach, in the window */
    int target_in_world, origin_in_world; /* whom I reach, who reaches me */
    int *mine;  /* the cells of this rank */
};

static MPI_Aint cell(const struct place *place, int index)
{
    return place->at + place->unit * index;
}

/* How many cells a rank moves in this call. */
static int length_of(int rank)
{
    return (call_number * 3 + rank * 5) % LONGEST + 1;
}

static int value(int rank, int index)
{
    return rank * 1000 + call_number * 10 + index;
}

typedef void (*call)(const struct place *, int *out, int *in, int count);

static void by_put(const struct place *p, int *out, int *in, int n)
{
    (void)in;
    MPI_Put(out, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, p->window);
    put(p->target_in_world, 4LL * n);
}

static void by_rput(const struct place *p, int *out, int *in, int n)
{
    MPI_Request request;
    (void)in;
    MPI_Rput(out, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, p->window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    put(p->target_in_world, 4LL * n);
}

static void by_accumulate(const struct place *p, int *out, int *in, int n)
{
    (void)in;
    MPI_Accumulate(out, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, MPI_REPLACE, p->window);
    put(p->target_in_world, 4LL * n);
}

static void by_raccumulate(const struct place *p, int *out, int *in, int n)
{
    MPI_Request request;
    (void)in;
    MPI_Raccumulate(out, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, MPI_REPLACE, p->window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    put(p->target_in_world, 4LL * n);
}

static void by_get(const struct place *p, int *out, int *in, int n)
{
    (void)out;
    requests[world_rank * world_size + p->target_in_world]++;
    MPI_Get(in, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, p->window);
    got(p->target_in_world, 4LL * n);
}

static void by_rget(const struct place *p, int *out, int *in, int n)
{
    MPI_Request request;
    (void)out;
    requests[world_rank * world_size + p->target_in_world]++;
    MPI_Rget(in, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, p->window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    got(p->target_in_world, 4LL * n);
}

static void by_get_accumulate(const struct place *p, int *out, int *in, int n)
{
    MPI_Get_accumulate(out, n, MPI_INT, in, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, MPI_REPLACE, p->window);
    put(p->target_in_world, 4LL * n);
    got(p->target_in_world, 4LL * n);
}

static void by_rget_accumulate(const struct place *p, int *out, int *in, int n)
{
    MPI_Request request;
    MPI_Rget_accumulate(out, n, MPI_INT, in, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, MPI_REPLACE, p->window,
                        &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    put(p->target_in_world, 4LL * n);
    got(p->target_in_world, 4LL * n);
}

static void by_fetch_and_op(const struct place *p, int *out, int *in, int n)
{
    (void)n;
    MPI_Fetch_and_op(out, in, MPI_INT, p->target, cell(p, FIRST), MPI_REPLACE, p->window);
    put(p->target_in_world, 4);
    got(p->target_in_world, 4);
}

static void by_compare_and_swap(const struct place *p, int *out, int *in, int n)
{
    int expected = value(p->target_in_world, FIRST);
    (void)n;
    MPI_Compare_and_swap(out, &expected, in, MPI_INT, p->target, cell(p, FIRST), p->window);
    put(p->target_in_world, 4);
    got(p->target_in_world, 4);
}

/* MPI_NO_OP: nothing goes to the target. */
static void by_fetching_only(const struct place *p, int *out, int *in, int n)
{
    (void)out;
    MPI_Get_accumulate(NULL, 0, MPI_INT, in, n, MPI_INT, p->target, cell(p, FIRST), n, MPI_INT, MPI_NO_OP, p->window);
    got(p->target_in_world, 4LL * n);
}

static void by_fetching_one(const struct place *p, int *out, int *in, int n)
{
    (void)n;
    MPI_Fetch_and_op(out, in, MPI_INT, p->target, cell(p, FIRST), MPI_NO_OP, p->window);
    got(p->target_in_world, 4);
}

/* What a call does: does it put, does it get, is it for one cell, does it need
 * an epoch of locks (calls with a request do). */
static const struct form {
    const char *name;
    call call;
    int puts, gets, one, locks, no_op;
} forms[] = {
    {"MPI_Put", by_put, 1, 0, 0, 0, 0},
    {"MPI_Get", by_get, 0, 1, 0, 0, 0},
    {"MPI_Accumulate", by_accumulate, 1, 0, 0, 0, 0},
    {"MPI_Get_accumulate", by_get_accumulate, 1, 1, 0, 0, 0},
    {"MPI_Fetch_and_op", by_fetch_and_op, 1, 1, 1, 0, 0},
    {"MPI_Compare_and_swap", by_compare_and_swap, 1, 1, 1, 0, 0},
    {"MPI_Rput", by_rput, 1, 0, 0, 1, 0},
    {"MPI_Rget", by_rget, 0, 1, 0, 1, 0},
    {"MPI_Raccumulate", by_raccumulate, 1, 0, 0, 1, 0},
    {"MPI_Rget_accumulate", by_rget_accumulate, 1, 1, 0, 1, 0},
    {"MPI_Get_accumulate with MPI_NO_OP", by_fetching_only, 0, 1, 0, 0, 1},
    {"MPI_Fetch_and_op with MPI_NO_OP", by_fetching_one, 0, 1, 1, 0, 1},
};

enum { FORMS = sizeof forms / sizeof forms[0] };
enum epoch { FENCE, LOCK, LOCK_ALL, EPOCHS };

/* One call by every rank, in an epoch of that kind. */
static void one_call(const struct place *place, MPI_Comm comm, const struct form *form, enum epoch epoch)
{
    int out[LONGEST], in[LONGEST];
    call_number++;
    int mine = form->one ? 1 : length_of(world_rank);
    int theirs = form->one ? 1 : length_of(place->origin_in_world);
    for (int i = 0; i < LONGEST; i++)
        out[i] = -value(world_rank, i), in[i] = -1;

    /* The barriers keep what is set up and checked apart from the call. */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, place->rank, 0, place->window);
    for (int i = 0; i < CELLS; i++)
        place->mine[i] = value(world_rank, i);
    MPI_Win_unlock(place->rank, place->window);
    MPI_Barrier(comm);
    if (epoch == FENCE)
        MPI_Win_fence(0, place->window);
    else if (epoch == LOCK)
        MPI_Win_lock(MPI_LOCK_SHARED, place->target, 0, place->window);
    else
        MPI_Win_lock_all(0, place->window);
    form->call(place, out, in, mine);
    if (epoch == FENCE)
        MPI_Win_fence(0, place->window);
    else if (epoch == LOCK)
        MPI_Win_unlock(place->target, place->window);
    else
        MPI_Win_unlock_all(place->window);
    MPI_Barrier(comm);
    MPI_Win_lock(MPI_LOCK_SHARED, place->rank, 0, place->window);
    for (int i = 0; form->gets && i < mine; i++)
        check(in[i] == value(place->target_in_world, FIRST + i), form->name);
    for (int i = 0; form->puts && i < theirs; i++)
        check(place->mine[FIRST + i] == -value(place->origin_in_world, i), form->name);
    check(place->mine[0] == value(world_rank, 0), form->name);
    MPI_Win_unlock(place->rank, place->window);
}

/* Bytes are those of the data, whatever the type; MPI_PROC_NULL is nobody. */
static void other_ways(const struct place *place)
{
    int out[LONGEST] = {0}, in[LONGEST];
    MPI_Datatype pairs;
    call_number++;
    MPI_Type_vector(3, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Win_fence(0, place->window);
    MPI_Put(out, 6, MPI_INT, place->target, cell(place, FIRST), 1, pairs, place->window);
    put(place->target_in_world, 24);
    MPI_Put(out, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, place->window);
    MPI_Get(in, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, place->window);
    MPI_Win_fence(0, place->window);
    MPI_Type_free(&pairs);
}

/* Start, complete, post, wait: the target knows its origin. */
static void by_post_and_start(const struct place *place, MPI_Comm comm, int from, int to)
{
    MPI_Group all, origin, target;
    int out[2] = {1, 2};
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &from, &origin);
    MPI_Group_incl(all, 1, &to, &target);
    MPI_Win_post(origin, 0, place->window);
    MPI_Win_start(target, 0, place->window);
    MPI_Put(out, 2, MPI_INT, place->target, cell(place, FIRST), 2, MPI_INT, place->window);
    put(place->target_in_world, 8);
    MPI_Win_complete(place->window);
    MPI_Win_wait(place->window);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
    MPI_Group_free(&all);
}

static int only_no_op;

/* All calls on one window of `comm`, whose ranks are `world_of` in the world. */
static void on_window(MPI_Win window, MPI_Comm comm, int *mine, MPI_Aint at, MPI_Aint unit)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *world_of = malloc(sizeof(int) * (size_t)size);
    MPI_Aint *all = malloc(sizeof(MPI_Aint) * (size_t)size);
    MPI_Allgather(&world_rank, 1, MPI_INT, world_of, 1, MPI_INT, comm);
    MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, comm);
    for (int shift = 1; shift <= 2; shift++) {
        int to = (rank + shift) % size, from = (rank + size - shift % size) % size;
        struct place place = {window, all[to], unit, rank, to, world_of[to], world_of[from], mine};
        for (int i = 0; i < FORMS; i++) {
            enum epoch epoch = (enum epoch)((i + shift) % EPOCHS);
            if (forms[i].locks && epoch == FENCE)
                epoch = LOCK;
            if (forms[i].no_op == only_no_op)
                one_call(&place, comm, &forms[i], epoch);
        }
        if (!only_no_op) {
            other_ways(&place);
            by_post_and_start(&place, comm, from, to);
        }
    }
    free(all);
    free(world_of);
}

static void every_window(MPI_Comm comm)
{
    int own[CELLS], *mine;
    MPI_Aint at;
    MPI_Win window;
    MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, comm, &window);
    on_window(window, comm, own, 0, 1);
    MPI_Win_free(&window);

    MPI_Win_allocate(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &mine, &window);
    on_window(window, comm, mine, 0, 1);
    MPI_Win_free(&window);

    MPI_Win_allocate_shared(CELLS * sizeof(int), 1, MPI_INFO_NULL, comm, &mine, &window);
    on_window(window, comm, mine, 0, sizeof(int));
    MPI_Win_free(&window);

    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window);
    MPI_Win_attach(window, own, sizeof own);
    MPI_Get_address(own, &at);
    on_window(window, comm, own, at, sizeof(int));
    MPI_Win_detach(window, own);
    MPI_Win_free(&window);
}

static void print_matrix(const char *name, const long long *caused)
{
    int cells = world_size * world_size;
    long long *all = malloc(sizeof *all * (size_t)cells);
    MPI_Reduce(caused, all, cells, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("expected %s\n", name);
        for (int i = 0; i < cells; i++)
            printf("%lld%c", all[i], (i + 1) % world_size ? ' ' : '\n');
    }
    free(all);
}

int main(int argc, char **argv)
{
    int all_failures = 0;
    MPI_Comm others;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    messages = calloc((size_t)(world_size * world_size), sizeof *messages);
    bytes = calloc((size_t)(world_size * world_size), sizeof *bytes);
    requests = calloc((size_t)(world_size * world_size), sizeof *requests);
    only_no_op = argc > 1 && strcmp(argv[1], "no-op") == 0;

    every_window(MPI_COMM_WORLD);
    /* All but rank 0, in reverse. (Two communicators with windows at the same
     * time get into each other's way in Open MPI 4.1, on one node.) */
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 0, -world_rank, &others);
    if (others != MPI_COMM_NULL) {
        every_window(others);
        MPI_Comm_free(&others);
    }

    print_matrix("messages", messages);
    print_matrix("bytes", bytes);
    print_matrix("requests", requests);
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("one_sided: %s\n", all_failures ? "FAILED" : "all data right");
    free(messages);
    free(bytes);
    free(requests);
    MPI_Finalize();
    return all_failures != 0;
}

/*
 * RUN:    3 ranks or more: Open MPI makes no window of own memory on a single one.
 * EXPECT: "all data right"; the profile's one-sided layer is exactly the printed
 *         messages and bytes.
 */
