/* All that Swift makes on first use, under locks, is made by bertqa_warm_up(), by the load of a model and by the start of
 * threads, which hold fork() back. A child that is forked while it is made elsewhere would wait for ever where it needs the
 * same; first_use_test.c meets such a moment by chance only.
 *
 * Standard input: address and name of each lazy global and each cache of a type's metadata or conformance: what they hold
 * changes when they are made. */
#include <dlfcn.h>

#include "everything.h"

enum { MAX = 4000 };
static struct {
  uintptr_t address;
  char name[1024];
  uint64_t at_first, warm;
} lazy[MAX];

static uint64_t now(size_t i) { return *(const volatile uint64_t *)lazy[i].address; }

int main(int argc, char **argv) {
  begin(argc, argv);
  begin_everything();
  Dl_info library;
  CHECK(dladdr((void *)&bertqa_warm_up, &library) != 0);
  size_t count = 0;
  while (count < MAX && scanf("%lx %1023s", &lazy[count].address, lazy[count].name) == 2)
    lazy[count++].address += (uintptr_t)library.dli_fbase;
  CHECK(count > 100 && count < MAX);
  for (size_t i = 0; i < count; i++) lazy[i].at_first = now(i);
  CHECK_STATUS(BERTQA_OK, bertqa_warm_up());
  bertqa_context_free(tiny_context(1));
  static const char *const others[] = {"tiny-bert-classifier", "tiny-bert-embedder", "tiny-bert-entities", "tiny-lstm"};
  for (int i = 0; i < 4; i++) bertqa_context_free(fixture_context(others[i], 1));
  CHECK_STATUS(BERTQA_OK, bertqa_pool_start());
  for (size_t i = 0; i < count; i++) lazy[i].warm = now(i);
  use_everything(NULL);
  int made = 0;
  for (size_t i = 0; i < count; i++) {
    made += lazy[i].warm != lazy[i].at_first;
    check(now(i) == lazy[i].warm, __FILE__, __LINE__, "made after the warm-up", lazy[i].name);
  }
  CHECK(made > 100); /* else these are no caches */
  end_everything();
  return finish();
}
