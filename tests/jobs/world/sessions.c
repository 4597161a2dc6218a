/*
 * Sessions beside the world: mpi://WORLD has the world's order.
 */
#include "notes.h"

#if MPI_VERSION >= 4
static void from_set(MPI_Session session, const char *name)
{
    MPI_Group group, world;
    MPI_Comm comm;
    int result, mine, all, sum = 0;
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_rank(group, &mine);
    MPI_Group_size(group, &all);
    note("%s: rank %d of %d", name, mine, all);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    note(", to the world's group %s", comparison(result));
    MPI_Comm_create_from_group(group, "treepie-tests", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &mine);
    int position = (mine + 1) * rank;
    MPI_Allreduce(&position, &sum, 1, MPI_INT, MPI_SUM, comm);
    note(", rank of the communicator %d, weighted %d\n", mine, sum);
    MPI_Comm_free(&comm);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
#if MPI_VERSION >= 4
    MPI_Session session;
    int sets, length = 0;
    char name[MPI_MAX_PSET_NAME_LEN];
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    note("sets of the standard's are there: %d\n", sets >= 2);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    length = sizeof name;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    note("the first is %s\n", name);
    from_set(session, "mpi://WORLD");
    from_set(session, "mpi://SELF");
    MPI_Session_finalize(&session);
#else
    note("this MPI has no sessions\n");
#endif
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   the process set mpi://WORLD is in the application's order, and
 *           communicators made from it as well.
 * PITFALLS: 13
 * FAILURES: testSessionWORLD
 */
