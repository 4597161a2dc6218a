/* Epochs of windows that are not opened, not closed, or opened twice. */

static void put_in(MPI_Win window)
{
    MPI_Put(out, FEW, MPI_INT, 1 - rank, 0, FEW, MPI_INT, window);
}

static MPI_Group group_of_the_other(void)
{
    int other = 1 - rank;
    MPI_Group all, one;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &other, &one);
    return one;
}

static void a_put_outside_of_epochs(void)
{
    MPI_Win window = window_of_all();
    put_in(window);
    MPI_Win_free(&window);
}

static void a_fence_that_is_missing(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_fence(0, window);
    put_in(window);
    MPI_Win_free(&window);
}

static void a_fence_that_one_rank_leaves_out(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void a_lock_that_is_kept(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, window);
    put_in(window);
    MPI_Win_free(&window);
}

static void locks_that_are_kept_with_the_window(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_lock_all(0, window);
    put_in(window);
}

static void a_lock_that_is_taken_twice(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, window);
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, window);
    MPI_Win_unlock(1 - rank, window);
    MPI_Win_free(&window);
}

static void an_unlock_without_a_lock(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_unlock(1 - rank, window);
    MPI_Win_free(&window);
}

static void a_flush_without_a_lock(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_flush(1 - rank, window);
    MPI_Win_free(&window);
}

static void a_complete_without_a_start(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_complete(window);
    MPI_Win_free(&window);
}

static void a_wait_without_a_post(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_wait(window);
    MPI_Win_free(&window);
}

static void a_start_without_a_post(void)
{
    MPI_Win window = window_of_all();
    if (rank == 0) {
        MPI_Win_start(group_of_the_other(), 0, window);
        put_in(window);
        MPI_Win_complete(window);
    }
    MPI_Win_free(&window);
}

static void a_post_without_a_start(void)
{
    MPI_Win window = window_of_all();
    if (rank == 0) {
        MPI_Win_post(group_of_the_other(), 0, window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
}

static void a_complete_that_is_missing(void)
{
    MPI_Win window = window_of_all();
    if (rank == 0) {
        MPI_Win_start(group_of_the_other(), 0, window);
        put_in(window);
    } else {
        MPI_Win_post(group_of_the_other(), 0, window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
}

static void a_fence_inside_of_a_lock(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, window);
    MPI_Win_fence(0, window);
    MPI_Win_unlock(1 - rank, window);
    MPI_Win_free(&window);
}

static void a_put_to_no_rank(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_fence(0, window);
    MPI_Put(out, FEW, MPI_INT, size, 0, FEW, MPI_INT, window);
    MPI_Win_fence(0, window);
}

static void a_put_beyond_the_end(void)
{
    MPI_Win window;
    MPI_Win_create(in, sizeof *in, sizeof *in, MPI_INFO_NULL, world, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, FEW, MPI_INT, 1 - rank, 1, FEW, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void a_put_in_a_freed_window(void)
{
    MPI_Win window = window_of_all(), copy = window;
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    put_in(copy);
}

static void a_request_that_is_not_waited_for(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_lock_all(0, window);
    MPI_Rput(out, FEW, MPI_INT, 1 - rank, 0, FEW, MPI_INT, window, &request);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void a_free_of_one(void)
{
    MPI_Win window = window_of_all();
    if (rank == 0)
        MPI_Win_free(&window);
}

#define WINDOWS \
    {"window-no-epoch", a_put_outside_of_epochs, 2}, \
    {"window-no-second-fence", a_fence_that_is_missing, 2}, \
    {"window-fence-of-one", a_fence_that_one_rank_leaves_out, 2}, \
    {"window-no-unlock", a_lock_that_is_kept, 2}, \
    {"window-no-unlock-no-free", locks_that_are_kept_with_the_window, 2}, \
    {"window-locked-twice", a_lock_that_is_taken_twice, 2}, \
    {"window-no-lock", an_unlock_without_a_lock, 2}, \
    {"window-flush-no-lock", a_flush_without_a_lock, 2}, \
    {"window-complete-no-start", a_complete_without_a_start, 2}, \
    {"window-wait-no-post", a_wait_without_a_post, 2}, \
    {"window-start-no-post", a_start_without_a_post, 2}, \
    {"window-post-no-start", a_post_without_a_start, 2}, \
    {"window-no-complete", a_complete_that_is_missing, 2}, \
    {"window-fence-in-lock", a_fence_inside_of_a_lock, 2}, \
    {"window-no-rank", a_put_to_no_rank, 2}, \
    {"window-beyond-end", a_put_beyond_the_end, 2}, \
    {"window-freed", a_put_in_a_freed_window, 2}, \
    {"window-request-unwaited", a_request_that_is_not_waited_for, 2}, \
    {"window-free-of-one", a_free_of_one, 2},
