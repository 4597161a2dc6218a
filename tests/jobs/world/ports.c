/*
 * Two halves of a job that find each other by a port, and two ranks by a socket.
 */
#include "notes.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static void across(const char *what, MPI_Comm inter)
{
    int mine, remote, got = -1;
    MPI_Comm_rank(inter, &mine);
    MPI_Comm_remote_size(inter, &remote);
    if (mine < remote)
        MPI_Sendrecv(&rank, 1, MPI_INT, mine, 3, &got, 1, MPI_INT, mine, 3, inter, MPI_STATUS_IGNORE);
    note("%s: rank %d, %d on the other side, opposite %d\n", what, mine, remote, got);
}

/* Ranks 0 and 1 have a TCP connection, and make a communicator of it. */
static void join(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), connection, port = 0;
    MPI_Comm inter;
    if (rank == 0) {
        if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1) ||
            getsockname(listener, (struct sockaddr *)&address, &length))
            MPI_Abort(MPI_COMM_WORLD, 3);
        port = address.sin_port;
        MPI_Send(&port, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
        connection = accept(listener, NULL, NULL);
    } else {
        MPI_Recv(&port, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        address.sin_port = (in_port_t)port;
        connection = listener;
        if (connect(connection, (struct sockaddr *)&address, sizeof address))
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
    int code = MPI_Comm_join(connection, &inter);
    note("join %s\n", class_of(code));
    if (code == MPI_SUCCESS && inter != MPI_COMM_NULL) {
        across("joined", inter);
        MPI_Comm_disconnect(&inter);
    }
    close(connection);
    if (rank == 0)
        close(listener);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;
    begin(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank % 2 == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    across("by a port", inter);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
    if (rank == 0)
        MPI_Close_port(port);
    if (rank < 2)
        join();
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    4
 * PROVES:   communicators made by ports and sockets have the application's ranks.
 * PITFALLS: 14
 * NOT:      mpich mpich-5 intel: Debian's build cannot open ports, the wheels' not always
 */
