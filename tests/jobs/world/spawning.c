/*
 * A job that spawns others, from every rank as root: the children's view of
 * their parents is that of the application's ranks, and their own world is as
 * the launcher made it.
 */
#include "notes.h"

#define CHILDREN 2

static int child(MPI_Comm parents)
{
    int asked[2], mine[4] = {-1, -1, -1, -1};
    MPI_Group remote;
    MPI_Comm merged;
    MPI_Comm_remote_group(parents, &remote);
    MPI_Group_size(remote, &mine[0]);
    MPI_Group_free(&remote);
    /* Each parent tells both children its rank, each child looks at the source. */
    for (int from = 0; from < mine[0]; from++) {
        MPI_Status status;
        MPI_Recv(asked, 2, MPI_INT, from, 1, parents, &status);
        mine[1] = asked[0] == status.MPI_SOURCE && asked[0] == from && mine[1] != 0;
    }
    mine[2] = 10 * rank + size;
    MPI_Intercomm_merge(parents, 1, &merged);
    MPI_Comm_rank(merged, &mine[3]);
    MPI_Comm_free(&merged);
    for (int to = 0; to < mine[0]; to++)
        MPI_Send(mine, 4, MPI_INT, to, 2, parents);
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return 0;
}

static void parent(char *program, int root)
{
    MPI_Comm children, merged;
    int word[2] = {rank, root}, answer[4], at, codes[CHILDREN] = {-1, -1};
    MPI_Comm_spawn(rank == root ? program : "no program", MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, root, MPI_COMM_WORLD,
                   &children, codes);
    for (int to = 0; to < CHILDREN; to++)
        MPI_Send(word, 2, MPI_INT, to, 1, children);
    MPI_Intercomm_merge(children, 0, &merged);
    MPI_Comm_rank(merged, &at);
    MPI_Comm_free(&merged);
    note("root %d: merged %d, codes %d %d", root, at, codes[0], codes[1]);
    for (int from = 0; from < CHILDREN; from++) {
        MPI_Recv(answer, 4, MPI_INT, from, 2, children, MPI_STATUS_IGNORE);
        note("; %d parents, sources right %d, child %d, merged %d", answer[0], answer[1], answer[2], answer[3]);
    }
    note("\n");
    MPI_Comm_disconnect(&children);
}

int main(int argc, char **argv)
{
    MPI_Comm parents;
    begin(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL)
        return child(parents);
    for (int root = 0; root < size; root += size - 1)
        parent(argv[0], root);
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   the root of a spawn is an application's rank, and children see their
 *           parents by those; nothing is replayed among the children.
 * PITFALLS: 14
 * NOT:      mpich intel: Debian's build cannot spawn, Intel's not here
 */
