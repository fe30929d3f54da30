/* The library opens a model's directory once, so all that it reads is of one model, even if another directory takes the
 * name meanwhile. The test renames the directories each time that the library opens or examines a file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "check.h"

static char root[] = "/tmp/bertqa-swap-XXXXXX";
static const char *const names[] = {"a", "b"};

/* ---- The name that is loaded: a link to a or b, or one of the directories themselves. */

static int swaps_links, is_swapped;

static char *path(const char *name) {
  static char result[8][128];
  static int next;
  next = (next + 1) % 8;
  snprintf(result[next], sizeof result[next], "%s/%s", root, name);
  return result[next];
}

static void swap(void) {
  is_swapped = !is_swapped;
  if (swaps_links) {
    CHECK(symlink(names[is_swapped], path("new")) == 0 && rename(path("new"), path("model")) == 0);
  } else {
    CHECK(renameat2(AT_FDCWD, path("model"), AT_FDCWD, path("other"), RENAME_EXCHANGE) == 0);
  }
}

/* ---- What the library asks the system while `events` are counted; at one of them the name is swapped. */

static long events, swap_at;
static int is_counting;

static void note(void) {
  if (!is_counting || ++events != swap_at) return;
  is_counting = 0;
  swap();
  is_counting = 1;
}

int openat(int directory, const char *name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
  va_end(rest);
  note();
  return (int)syscall(SYS_openat, directory, name, flags, mode);
}

int open(const char *name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
  va_end(rest);
  note();
  return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

/* ---- Two models of one kind: b has half of a's weights, and its labels are named otherwise. */

static void run(const char *format, ...) {
  char command[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  CHECK(system(command) == 0);
}

static void halve_weights(const char *file) {
  const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR, 0);
  struct stat status;
  uint64_t header = 0;
  CHECK(fstat(descriptor, &status) == 0 &&
        pread(descriptor, &header, sizeof header, 0) == sizeof header);
  const off_t start = (off_t)(sizeof header + header);
  const size_t size = (size_t)(status.st_size - start);
  float *weights = malloc(size);
  CHECK(pread(descriptor, weights, size, start) == (ssize_t)size);
  for (size_t i = 0; i < size / sizeof *weights; i++) weights[i] /= 2;
  CHECK(pwrite(descriptor, weights, size, start) == (ssize_t)size);
  free(weights);
  close(descriptor);
}

/* is_hub: as in the cache of Hugging Face's hub, files are links out of the directory. */
static void make_models(const char *fixture, int is_hub) {
  run("rm -rf %s/*", root);
  for (int i = 0; i < 2; i++)
    run("cp -rL %s/../%s %s/%s && chmod -R u+w %s", tiny, fixture, root, names[i], root);
  halve_weights(path("b/model.safetensors"));
  run("sed -i 's/\"\\(calm\\|glad\\|sad\\)\"/\"b-\\1\"/' %s/b/config.json", root);
  if (is_hub) {
    for (int i = 0; i < 2; i++) {
      run("cd %s && mkdir -p blobs-%s && cd %s && for f in *.*; do mv $f ../blobs-%s/$f && ln -s "
          "../blobs-%s/$f $f; done",
          root, names[i], names[i], names[i], names[i]);
    }
  }
  is_swapped = 0;
  if (swaps_links)
    CHECK(symlink("a", path("model")) == 0);
  else
    run("mv %s/a %s/model && mv %s/b %s/other", root, root, root, root);
}

/* ---- Classifiers */

typedef struct outcome {
  char label[64];
  float logits[3];
} outcome;

static int load_outcome(const char *directory, bertqa_load how, outcome *o) {
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  options.load = how;
  bertqa_context *context;
  is_counting = swap_at > 0;
  const bertqa_status status = bertqa_context_create(directory, &options, &context);
  is_counting = 0;
  CHECK_STATUS(BERTQA_OK, status);
  if (context == NULL) return 0;
  memset(o, 0, sizeof *o);
  snprintf(o->label, sizeof o->label, "%s", bertqa_context_label_get(context, 0, NULL));
  bertqa_classification *classification;
  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, "the king", 8, NULL, &classification));
  for (size_t i = 0; i < 3; i++) {
    const bertqa_label_score *score = bertqa_classification_get(classification, i);
    o->logits[score->id] = score->logit;
  }
  bertqa_classification_free(classification);
  bertqa_context_free(context);
  return 1;
}

static void classifiers(int links, int is_hub, bertqa_load how) {
  swaps_links = links;
  make_models("tiny-bert-classifier", is_hub);
  outcome expected[2], found;
  swap_at = 0;
  for (int i = 0; i < 2; i++) {
    CHECK(load_outcome(path(links ? names[i] : i ? "other" : "model"), how, &expected[i]));
  }
  CHECK(strcmp(expected[0].label, expected[1].label) != 0 &&
        expected[0].logits[0] != expected[1].logits[0]);
  /* Stops at an event that is not of the loading. */
  do {
    events = 0;
    swap_at++;
    if (is_swapped) swap();
    if (load_outcome(path("model"), how, &found))
      CHECK(memcmp(&found, &expected[0], sizeof found) == 0 ||
            memcmp(&found, &expected[1], sizeof found) == 0);
  } while (events >= swap_at);
  CHECK(swap_at > 4);
}

/* ---- The quantizer: of the files that it writes */

static int same_files(const char *a, const char *b) {
  char command[300];
  snprintf(command, sizeof command, "diff -r %s %s > /dev/null", a, b);
  return system(command) == 0;
}

static void quantizer(void) {
  swaps_links = 1;
  make_models("tiny-bert-classifier", 0);
  swap_at = 0;
  for (int i = 0; i < 2; i++)
    CHECK_STATUS(BERTQA_OK,
                 bertqa_quantize(path(names[i]), path(i ? "int8-b" : "int8-a"), NULL, NULL));
  CHECK(!same_files(path("int8-a"), path("int8-b")));
  do {
    events = 0;
    swap_at++;
    if (is_swapped) swap();
    is_counting = 1;
    const bertqa_status status = bertqa_quantize(path("model"), path("int8"), NULL, NULL);
    is_counting = 0;
    CHECK_STATUS(BERTQA_OK, status);
    CHECK(same_files(path("int8"), path("int8-a")) || same_files(path("int8"), path("int8-b")));
    run("rm -rf %s/int8", root);
  } while (events >= swap_at);
  CHECK(swap_at > 4);
}

/* ---- A folder within: the models pool in different ways. */

static float embed(const char *directory, float *second) {
  bertqa_context *context;
  is_counting = swap_at > 0;
  const bertqa_status status = bertqa_context_create(directory, NULL, &context);
  is_counting = 0;
  CHECK_STATUS(BERTQA_OK, status);
  if (context == NULL) return 0;
  const size_t length = bertqa_context_info(context)->embedding_length;
  float *vector = calloc(length, sizeof *vector);
  const bertqa_text_pair text = {"the king of france", 18, NULL, 0};
  CHECK_STATUS(BERTQA_OK, bertqa_embed(context, &text, 1, NULL, vector, length, NULL));
  const float first = vector[0];
  *second = vector[1];
  free(vector);
  bertqa_context_free(context);
  return first;
}

static void folders(void) {
  swaps_links = 1;
  make_models("tiny-bert-embedder", 0);
  run("sed -i -e 's/\"pooling_mode_mean_tokens\": true/\"pooling_mode_mean_tokens\": false/' "
      "-e 's/\"pooling_mode_cls_token\": false/\"pooling_mode_cls_token\": true/' "
      "%s/b/1_Pooling/config.json",
      root);
  float expected[2][2], found[2];
  swap_at = 0;
  for (int i = 0; i < 2; i++) expected[i][0] = embed(path(names[i]), &expected[i][1]);
  CHECK(expected[0][0] != expected[1][0]);
  do {
    events = 0;
    swap_at++;
    if (is_swapped) swap();
    found[0] = embed(path("model"), &found[1]);
    CHECK(memcmp(found, expected[0], sizeof found) == 0 ||
          memcmp(found, expected[1], sizeof found) == 0);
  } while (events >= swap_at);
  CHECK(swap_at > 4);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  CHECK(mkdtemp(root) != NULL);
  for (bertqa_load how = BERTQA_LOAD_MMAP; how <= BERTQA_LOAD_COPY; how++) {
    classifiers(1, 0, how);
    classifiers(0, 0, how);
    classifiers(1, 1, how);
  }
  quantizer();
  folders();
  run("rm -rf %s", root);
  return finish();
}
