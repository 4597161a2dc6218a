/*
 * MPI_Sendrecv in two parts with a pause between them, in which other threads go on: messages that
 * several threads send to themselves are mixed up unless each is on a communicator, or has a tag,
 * of its thread. To be preloaded behind libtreepie.so.
 */
#include <mpi.h>
#include <unistd.h>

int PMPI_Sendrecv(const void *from, int n, MPI_Datatype t, int to, int tag, void *into, int m, MPI_Datatype u,
                  int source, int other_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    int code = PMPI_Irecv(into, m, u, source, other_tag, comm, &request);
    if (code != MPI_SUCCESS)
        return code;
    usleep(200);
    code = PMPI_Send(from, n, t, to, tag, comm);
    return code == MPI_SUCCESS ? PMPI_Wait(&request, status) : code;
}
