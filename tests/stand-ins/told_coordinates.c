/*
 * Stands in for the libraries that tell where a host is on its network: uTofu of Fujitsu, or PMI of
 * Cray. TOLD_COORDINATES has hosts with their coordinates, `n0=0,0,0,0,0,0 n1=...`: with six of
 * them uTofu tells, with three PMI.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 6
#define FAILED (-1)

/* The coordinates of this host, and how many. */
static int told(int *at)
{
    char host[256], wanted[300];
    const char *all = getenv("TOLD_COORDINATES");
    if (all == NULL || gethostname(host, sizeof host) != 0)
        return 0;
    snprintf(wanted, sizeof wanted, "%s=", host);
    const char *found = strstr(all, wanted);
    if (found == NULL)
        return 0;
    int count = 0;
    for (found += strlen(wanted); count < MOST; found++) {
        char *end;
        at[count++] = (int)strtol(found, &end, 10);
        found = end;
        if (*found != ',')
            break;
    }
    return count;
}

int utofu_query_my_coords(uint8_t *coordinates)
{
    int at[MOST];
    if (told(at) != 6)
        return FAILED;
    for (int i = 0; i < 6; i++)
        coordinates[i] = (uint8_t)at[i];
    return 0;
}

int PMI_Get_rank(int *rank)
{
    *rank = 0;
    return 0;
}

int PMI_Get_nid(int rank, int *nid)
{
    *nid = 100 + rank;
    return 0;
}

int PMI_Get_meshcoord(int nid, uint16_t *xyz)
{
    int at[MOST];
    if (nid != 100 || told(at) != 3)
        return FAILED;
    for (int i = 0; i < 3; i++)
        xyz[i] = (uint16_t)at[i];
    return 0;
}
