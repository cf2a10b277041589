/* A library of the standard ABI for tests: the few functions that are used, over MPICH, whose handles
   are numbers. It exports the functions of MPI 5 with the standard's constants.

   Built with -DFOREIGN, it sends messages of its own before each that it is given, with the same tag; with -DTWICE=N,
   the N-th message of a rank goes out twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *mpich(const char *name) {
    static void *library;
    if (!library) library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) abort();
    return found;
}

/* Constants of the standard ABI, and those of MPICH. */
static int handle(void *standard) {
    switch ((intptr_t)standard) {
    case 0x101: return 0x44000000; /* MPI_COMM_WORLD */
    case 0x247: return 0x4c00010d; /* MPI_BYTE */
    case 0x142: return 0x54000001; /* MPI_ERRORS_RETURN */
    default: abort();
    }
}

static int source(int standard) { return standard == -1 ? -2 : standard; }

int MPI_Abi_get_version(int *major, int *minor) {
    *major = 1;
    *minor = 0;
    return 0;
}

int MPI_Get_library_version(char *text, int *length) {
    return ((int (*)(char *, int *))mpich("MPI_Get_library_version"))(text, length);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    if (required != 1024) abort(); /* MPI_THREAD_FUNNELED */
    return ((int (*)(int *, char ***, int, int *))mpich("MPI_Init_thread"))(argc, argv, 1, provided);
}

int MPI_Finalize(void) { return ((int (*)(void))mpich("MPI_Finalize"))(); }

int MPI_Comm_rank(void *comm, int *rank) {
    return ((int (*)(int, int *))mpich("MPI_Comm_rank"))(handle(comm), rank);
}

int MPI_Comm_size(void *comm, int *size) {
    return ((int (*)(int, int *))mpich("MPI_Comm_size"))(handle(comm), size);
}

int MPI_Comm_set_errhandler(void *comm, void *handler) {
    return ((int (*)(int, int))mpich("MPI_Comm_set_errhandler"))(handle(comm), handle(handler));
}

#if defined FOREIGN || defined TWICE
static void also(const void *bytes, int count, int to, int tag, void *comm) {
    int (*send)(const void *, int, int, int, int, int) =
        (int (*)(const void *, int, int, int, int, int))mpich("MPI_Send");
    if (send(bytes, count, handle((void *)0x247), to, tag, handle(comm))) abort();
}
#endif

#ifdef FOREIGN
/* None of these begins with the secret: nothing, a few bytes, and what is sent with one bit changed. A header alone
   is not changed: it may be the first frame, from which the receiver would learn a wrong secret. */
static void disturb(const char *bytes, int count, int to, int tag, void *comm) {
    int own = 0;
    MPI_Comm_rank(comm, &own);
    if (to == own) return; /* the messages by which a rank ends its own receptions */
    char changed[200];
    int some = count < (int)sizeof changed ? count : (int)sizeof changed;
    memcpy(changed, bytes, some);
    changed[0] ^= 1;
    also(changed, 0, to, tag, comm);
    also("\0\0\0\0\0", 5, to, tag, comm);
    if (count > 56) also(changed, some, to, tag, comm);
}
#endif

int MPI_Isend(const void *bytes, int count, void *type, int to, int tag, void *comm, void **request) {
#ifdef FOREIGN
    disturb(bytes, count, to, tag, comm);
#endif
#ifdef TWICE
    static int sent;
    if (++sent == TWICE) also(bytes, count, to, tag, comm);
#endif
    int own = 0;
    int code = ((int (*)(const void *, int, int, int, int, int, int *))mpich("MPI_Isend"))(
        bytes, count, handle(type), to, tag, handle(comm), &own);
    *request = (void *)(intptr_t)own;
    return code;
}

int MPI_Irecv(void *bytes, int count, void *type, int from, int tag, void *comm, void **request) {
    int own = 0;
    int code = ((int (*)(void *, int, int, int, int, int, int *))mpich("MPI_Irecv"))(
        bytes, count, handle(type), source(from), tag, handle(comm), &own);
    *request = (void *)(intptr_t)own;
    return code;
}

int MPI_Test(void **request, int *flag, void *status) {
    if (status) abort(); /* MPI_STATUS_IGNORE is no address. */
    int own = (int)(intptr_t)*request;
    int code = ((int (*)(int *, int *, void *))mpich("MPI_Test"))(&own, flag, (void *)1);
    *request = (void *)(intptr_t)own;
    return code;
}

int MPI_Abort(void *comm, int code) {
    return ((int (*)(int, int))mpich("MPI_Abort"))(handle(comm), code);
}

int MPI_Error_string(int code, char *text, int *length) {
    return ((int (*)(int, char *, int *))mpich("MPI_Error_string"))(code, text, length);
}
