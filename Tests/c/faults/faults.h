/* The kinds of faults that faults.c makes. */
enum {
  FAULT_ALLOCATION, /* realloc and posix_memalign: the library's checked buffers */
  FAULT_MMAP,
  FAULT_OPEN,
  FAULT_READ,
  FAULT_SHORT_READ, /* one byte at a time: no failure to the caller */
  FAULT_FSTAT,
  FAULT_INTERRUPTED, /* open, read, write and fsync fail with EINTR, every other call: no failure to the caller */
  FAULT_THREAD, /* pthread_create */
  FAULT_KINDS
};
