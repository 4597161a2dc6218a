/* One-sided requests. The window is a multiple of a page: MPICH 4.0's own addresses are wrong in
 * one of 12 bytes. */
enum { TRANSFERS = 4, BYTES = 4096 };
static void one_sided(void)
{
    for (int at = 0; at < COMPLETIONS; at++) {
        for (int which = 0; which < TRANSFERS; which++) {
            MPI_Win window;
            int *memory;
            doing = (const char *[]){"Rput", "Rget", "Raccumulate", "Rget_accumulate"}[which];
            take();
            MPI_Win_allocate(BYTES, sizeof(int), MPI_INFO_NULL, comm, &memory, &window);
            let_go();
            MPI_Win_lock_all(0, window);
            for (int element = 0; element < ELEMENTS; element++)
                memory[element] = 1000 * rank + element;
            MPI_Win_sync(window);
            MPI_Barrier(MPI_COMM_WORLD);
            if (which == 0)
                MPI_Rput(out, ELEMENTS, MPI_INT, right, 0, ELEMENTS, MPI_INT, window, next());
            else if (which == 1)
                MPI_Rget(in, ELEMENTS, MPI_INT, left, 0, ELEMENTS, MPI_INT, window, next());
            else if (which == 2)
                MPI_Raccumulate(out, ELEMENTS, MPI_INT, right, 0, ELEMENTS, MPI_INT, MPI_SUM, window, next());
            else
                MPI_Rget_accumulate(out, ELEMENTS, MPI_INT, in, ELEMENTS, MPI_INT, left, 0, ELEMENTS,
                                    MPI_INT, MPI_SUM, window, next());
            completions[at]();
            MPI_Win_flush_all(window);
            MPI_Barrier(MPI_COMM_WORLD);
            if (which == 1 || which == 3)
                from_left();
            MPI_Win_sync(window);
            for (int element = 0; element < ELEMENTS; element++) {
                const int before = 1000 * rank + element, other = 1000 * left + element;
                const int now[] = {other, before, before + other, before + 1000 * right + element};
                check(memory[element] == now[which], "an element of the window");
            }
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_unlock_all(window);
            MPI_Win_free(&window);
            end();
        }
    }
}
