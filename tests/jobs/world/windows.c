/*
 * Windows over the world, of every kind, under every kind of synchronisation:
 * targets are the application's ranks.
 */
#include "notes.h"

static int left, right;

static void group_of(MPI_Win window)
{
    MPI_Group world, of_window;
    int result;
    MPI_Win_get_group(window, &of_window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(world, of_window, &result);
    note("group %s\n", comparison(result));
    MPI_Group_free(&world);
    MPI_Group_free(&of_window);
}

static void fenced(MPI_Win window, int *memory)
{
    int got = -1, sum = 1, fetched = -1;
    memory[0] = -1;
    memory[1] = 100 * rank;
    memory[2] = 0;
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Get(&got, 1, MPI_INT, left, 1, 1, MPI_INT, window);
    MPI_Accumulate(&sum, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    note("fence: put by %d, got %d", memory[0], got);
    if (rank == 0)
        note(", %d added", memory[2]);
    MPI_Win_fence(0, window);
    MPI_Fetch_and_op(&sum, &fetched, MPI_INT, right, 1, MPI_SUM, window);
    MPI_Win_fence(0, window);
    note(", fetched %d, mine is now %d\n", fetched, memory[1]);
}

static void locked(MPI_Win window, int *memory)
{
    int got = -1, mine = 1000 + rank, expected = -5, found = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    memory[3] = -5;
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Compare_and_swap(&mine, &expected, &found, MPI_INT, right, 3, window);
    MPI_Win_unlock(right, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, window);
    MPI_Get(&got, 1, MPI_INT, size - 1, 3, 1, MPI_INT, window);
    MPI_Win_unlock(size - 1, window);
    note("lock: found %d, the last rank has %d\n", found, got);
    MPI_Win_lock_all(0, window);
    MPI_Get(&got, 1, MPI_INT, left, 3, 1, MPI_INT, window);
    MPI_Win_flush(left, window);
    MPI_Win_unlock_all(window);
    note("lock all: %d\n", got);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void exposed(MPI_Win window, int *memory)
{
    MPI_Group world, sources, targets;
    int word = 10 * rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &sources);
    MPI_Group_incl(world, 1, &right, &targets);
    memory[4] = -1;
    MPI_Win_post(sources, 0, window);
    MPI_Win_start(targets, 0, window);
    MPI_Put(&word, 1, MPI_INT, right, 4, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    note("post and start: %d\n", memory[4]);
    MPI_Group_free(&world);
    MPI_Group_free(&sources);
    MPI_Group_free(&targets);
}

int main(int argc, char **argv)
{
    int *memory, unit;
    MPI_Aint bytes, *addresses;
    MPI_Win window;
    MPI_Comm node;
    begin(&argc, &argv);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    /* Open MPI's temporary refusals are not what is asked here. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    memory = malloc(4096);
    int code = MPI_Win_create(memory, 4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    note("create %s\n", class_of(code));
    if (code == MPI_SUCCESS) {
        group_of(window);
        fenced(window, memory);
        locked(window, memory);
        exposed(window, memory);
        MPI_Win_free(&window);
    }
    free(memory);

    code = MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    note("allocate %s\n", class_of(code));
    if (code == MPI_SUCCESS) {
        group_of(window);
        fenced(window, memory);
        locked(window, memory);
        exposed(window, memory);
        MPI_Win_free(&window);
    }

    /* The memory of others, by their ranks; once on the world itself, once on
     * those of the machine. */
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    for (int of_node = 0; of_node < 2; of_node++) {
        code = MPI_Win_allocate_shared(4096, sizeof(int), MPI_INFO_NULL, of_node ? node : MPI_COMM_WORLD, &memory, &window);
        note("allocate shared %s\n", class_of(code));
        if (code != MPI_SUCCESS)
            continue;
        int *theirs;
        memory[0] = 7 * rank;
        MPI_Win_fence(0, window);
        MPI_Win_shared_query(window, right, &bytes, &unit, &theirs);
        note("shared: %d\n", theirs[0]);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    MPI_Comm_free(&node);

    code = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    note("dynamic %s\n", class_of(code));
    if (code == MPI_SUCCESS) {
        MPI_Aint mine;
        addresses = calloc((size_t)size, sizeof *addresses);
        memory = calloc(16, sizeof(int));
        MPI_Win_attach(window, memory, 16 * sizeof(int));
        MPI_Get_address(memory, &mine);
        MPI_Allgather(&mine, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
        MPI_Win_fence(0, window);
        MPI_Put(&rank, 1, MPI_INT, right, addresses[right], 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        note("put by %d\n", memory[0]);
        MPI_Win_detach(window, memory);
        MPI_Win_free(&window);
        free(addresses);
        free(memory);
    }
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   windows made on the world have its ranks, whatever synchronises them.
 * PITFALLS: 18 28
 */
