// Counts what the process allocates: this test binary's own malloc() and friends come before glibc's.
#ifndef BERTQA_TEST_ALLOCATIONS_H
#define BERTQA_TEST_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

// True if allocations are counted: not under sanitizers, which have their own malloc() and friends.
bool counts_allocations(void);

// Calls of malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign so far, by any thread.
uint64_t allocation_count(void);

// Bytes they asked for, freed or not.
uint64_t allocated_bytes(void);

// fork(), which Swift does not import. A child that hangs is killed after a minute.
int fork_process(void);

#endif
