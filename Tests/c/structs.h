/* Checks that a function reads an options struct of any version of the header. */
#ifndef STRUCTS_H
#define STRUCTS_H

#include <stddef.h>

#include "check.h"

/* An options struct as a later header might declare it. */
#define GROWN(type) \
  struct {          \
    type known;     \
    char added[24]; \
  }

/* type: the options struct; narrow: its first field of four bytes, or `last`; last: its last field; OUT, CALL: an
 * out-parameter, and a call that succeeds with default options and reads `options`; FREE gives its result back. */
#define CHECK_STRUCT_SIZES(type, narrow, last, OUT, CALL, FREE)                                   \
  do {                                                                                            \
    _Static_assert(offsetof(type, last) + sizeof((type){0}.last) == sizeof(type), #last);         \
    GROWN(type) grown;                                                                            \
    type *options = &grown.known;                                                                 \
    /* init writes what it was told and nothing behind it. */                                     \
    for (size_t size = 0; size <= sizeof grown; size++) {                                         \
      memset(&grown, 0xaa, sizeof grown);                                                         \
      type##_init(options, size);                                                                 \
      const unsigned char *bytes = (const unsigned char *)&grown;                                 \
      int untouched = 1;                                                                          \
      for (size_t i = size < sizeof(size_t) ? 0 : size; i < sizeof grown; i++)                    \
        untouched &= bytes[i] == 0xaa;                                                            \
      CHECK(untouched);                                                                           \
      if (size >= sizeof(size_t)) CHECK(options->struct_size == size);                            \
    }                                                                                             \
    for (size_t i = 0; i < sizeof grown.added; i++) CHECK(grown.added[i] == 0);                   \
    type##_init(NULL, sizeof(type));                                                              \
    /* A later caller: fields that this library does not know are zero, or refused. */            \
    CHECK_STATUS(BERTQA_OK, CALL);                                                                \
    FREE(OUT);                                                                                    \
    for (size_t i = 0; i < sizeof grown.added; i += sizeof grown.added - 1) {                     \
      grown.added[i] = 1;                                                                         \
      CHECK_FAILS(BERTQA_ERROR_UNSUPPORTED, OUT, CALL);                                           \
      grown.added[i] = 0;                                                                         \
    }                                                                                             \
    /* An earlier caller: fields that it did not have are not read. No size ends in a field. */   \
    const size_t wide = sizeof options->narrow == 4 ? offsetof(type, narrow) : sizeof(type);      \
    for (size_t size = sizeof(size_t); size < sizeof(type); size++) {                             \
      type##_init(options, sizeof(type));                                                         \
      memset((char *)options + size, 0xaa, sizeof(type) - size);                                  \
      options->struct_size = size;                                                                \
      if (size % (size <= wide ? 8 : 4) == 0) {                                                   \
        CHECK_STATUS(BERTQA_OK, CALL);                                                            \
        FREE(OUT);                                                                                \
      } else {                                                                                    \
        CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, OUT, CALL);                                    \
      }                                                                                           \
    }                                                                                             \
    /* A member that a later version may use. */                                                  \
    if (strcmp(#last, "reserved") == 0) {                                                         \
      type##_init(options, sizeof(type));                                                         \
      memset(&options->last, 1, sizeof options->last);                                            \
      CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, OUT, CALL);                                      \
      CHECK(strcmp(bertqa_last_error_argument(), "reserved") == 0);                               \
    }                                                                                             \
    /* A caller that forgot init. */                                                              \
    const size_t wrong[] = {0, 4, sizeof(size_t) - 1, 1 << 20, SIZE_MAX / 2, SIZE_MAX};           \
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {                                 \
      type##_init(options, sizeof(type));                                                         \
      options->struct_size = wrong[i];                                                            \
      CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, OUT, CALL);                                      \
    }                                                                                             \
  } while (0)

#endif
