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

/* type: the options struct; init: its *_init; last: its last field; OUT, CALL: an out-parameter, and a
 * call that succeeds with default options and reads `options`; FREE gives its result back. */
#define CHECK_STRUCT_SIZES(type, init, last, OUT, CALL, FREE)                                     \
  do {                                                                                            \
    GROWN(type) grown;                                                                            \
    type *options = &grown.known;                                                                 \
    /* init writes what it was told and nothing behind it. */                                     \
    for (size_t size = 0; size <= sizeof grown; size++) {                                         \
      memset(&grown, 0xaa, sizeof grown);                                                         \
      init(options, size);                                                                        \
      const unsigned char *bytes = (const unsigned char *)&grown;                                 \
      int untouched = 1;                                                                          \
      for (size_t i = size < sizeof(size_t) ? 0 : size; i < sizeof grown; i++)                    \
        untouched &= bytes[i] == 0xaa;                                                            \
      CHECK(untouched);                                                                           \
      if (size >= sizeof(size_t)) CHECK(options->struct_size == size);                            \
    }                                                                                             \
    for (size_t i = 0; i < sizeof grown.added; i++) CHECK(grown.added[i] == 0);                   \
    init(NULL, sizeof(type));                                                                     \
    /* A later caller: fields that this library does not know are zero, or refused. */            \
    CHECK_STATUS(BERTQA_OK, CALL);                                                                \
    FREE(OUT);                                                                                    \
    for (size_t i = 0; i < sizeof grown.added; i += sizeof grown.added - 1) {                     \
      grown.added[i] = 1;                                                                         \
      CHECK_FAILS(BERTQA_ERROR_UNSUPPORTED, OUT, CALL);                                           \
      grown.added[i] = 0;                                                                         \
    }                                                                                             \
    /* An earlier caller: fields that it did not have are not read. */                            \
    memset(&options->last, 0xaa, sizeof options->last);                                           \
    options->struct_size = offsetof(type, last);                                                  \
    CHECK_STATUS(BERTQA_OK, CALL);                                                                \
    FREE(OUT);                                                                                    \
    memset((char *)options + sizeof(size_t), 0xaa, sizeof(type) - sizeof(size_t));                \
    options->struct_size = sizeof(size_t);                                                        \
    CHECK_STATUS(BERTQA_OK, CALL);                                                                \
    FREE(OUT);                                                                                    \
    /* A caller that forgot init. */                                                              \
    const size_t wrong[] = {0, 4, sizeof(size_t) - 1, 1 << 20, SIZE_MAX / 2, SIZE_MAX};           \
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {                                 \
      init(options, sizeof(type));                                                                \
      options->struct_size = wrong[i];                                                            \
      CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, OUT, CALL);                                      \
    }                                                                                             \
  } while (0)

#endif
