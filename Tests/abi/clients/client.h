/* What the clients share; it does not depend on the version of bertqa.h, which each includes from its directory. */
#ifndef CLIENT_H
#define CLIENT_H

#include <bertqa.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;

#define CHECK(condition)                                                                                 \
  do {                                                                                                   \
    checks++;                                                                                            \
    if (!(condition)) {                                                                                  \
      failures++;                                                                                        \
      fprintf(stderr, "%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition, bertqa_last_error());  \
    }                                                                                                    \
  } while (0)

/* For what must succeed before anything else can be tried. */
#define NEED(condition)                                 \
  do {                                                  \
    CHECK(condition);                                   \
    if (failures > 0) exit(1);                          \
  } while (0)

/* What the library returns is at least as long as this client's header says. */
#define KNOWN(pointer) CHECK((pointer) != NULL && (pointer)->struct_size >= sizeof *(pointer))

/* A model that lies in the directory of models with random weights. */
static inline bertqa_context *context_of(const char *fixtures, const char *name) {
  char path[4096];
  bertqa_context *context = NULL;
  snprintf(path, sizeof path, "%s/%s", fixtures, name);
  NEED(bertqa_context_create(path, NULL, &context) == BERTQA_OK);
  return context;
}

static inline int finish(void) {
  printf("%d checks, %d failed, header %d.%d.%d, library %s\n", checks, failures, BERTQA_VERSION_MAJOR,
         BERTQA_VERSION_MINOR, BERTQA_VERSION_PATCH, bertqa_version());
  return failures == 0 ? 0 : 1;
}

#endif
