/* Entities: lists, options, batches, and who is refused. */
#include "check.h"
#include "structs.h"

static bertqa_context *context;

static const char text[] = "In Paris, King Rivi\xc3\xa8re of France \xf0\x9f\xa6\x8a made a film about the river.";

static bertqa_entity_list *found(const char *bytes, size_t length, const bertqa_entities_options *options) {
  bertqa_entity_list *list = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_entities(context, bytes, length, options, &list));
  return list;
}

/* True if two results are the same to the last bit. */
static int same(const bertqa_entity_list *a, const bertqa_entity_list *b) {
  if (a == NULL || b == NULL || bertqa_entity_list_count(a) != bertqa_entity_list_count(b)) return 0;
  for (size_t i = 0; i < bertqa_entity_list_count(a); i++) {
    const bertqa_entity *x = bertqa_entity_list_get(a, i), *y = bertqa_entity_list_get(b, i);
    if (strcmp(x->label, y->label) != 0 || x->score != y->score) return 0;
    if (memcmp(&x->bytes, &y->bytes, 3 * sizeof x->bytes) != 0) return 0;
  }
  return memcmp(bertqa_entity_list_summary(a), bertqa_entity_list_summary(b), sizeof(bertqa_entities_summary)) == 0;
}

static size_t code_points(const char *bytes, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += (bytes[i] & 0xc0) != 0x80;
  return count;
}

static size_t utf16_units(const char *bytes, size_t length) {
  size_t count = code_points(bytes, length);
  for (size_t i = 0; i < length; i++) count += (unsigned char)bytes[i] >= 0xf0;
  return count;
}

static void test_list(void) {
  const bertqa_model_info *info = bertqa_context_info(context);
  CHECK(info->task == BERTQA_TASK_ENTITIES && strcmp(bertqa_task_name(info->task), "entities") == 0);
  CHECK(info->label_count == 7 && strcmp(bertqa_context_label_get(context, 1, NULL), "B-PER") == 0);
  bertqa_entities_options options = BERTQA_ENTITIES_OPTIONS_INIT;
  options.aggregation = BERTQA_AGGREGATION_NONE;
  options.ignore_labels = &(bertqa_text){NULL, 0};
  bertqa_entity_list *list = found(text, sizeof text - 1, &options);
  size_t count = bertqa_entity_list_count(list);
  CHECK(count > 10 && bertqa_entity_list_get(list, count) == NULL);
  size_t last = 0;
  for (size_t i = 0; i < count; i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(list, i);
    CHECK(entity->struct_size == sizeof *entity && strlen(entity->label) == entity->label_length);
    CHECK(entity->score > 1.0f / 7 && entity->score <= 1 && entity->reserved == 0);
    CHECK(entity->bytes.start >= last && entity->bytes.end > entity->bytes.start);
    CHECK(entity->code_points.start == code_points(text, entity->bytes.start));
    CHECK(entity->code_points.end == code_points(text, entity->bytes.end));
    CHECK(entity->utf16.start == utf16_units(text, entity->bytes.start));
    CHECK(entity->utf16.end == utf16_units(text, entity->bytes.end));
    last = entity->bytes.end;
  }
  CHECK(bertqa_entity_list_summary(list)->struct_size == sizeof(bertqa_entities_summary));
  CHECK(bertqa_entity_list_summary(list)->window_count == 1);
  bertqa_entity_list_free(list);
  bertqa_entity_list_free(NULL);
  CHECK(bertqa_entity_list_count(NULL) == 0 && bertqa_entity_list_get(NULL, 0) == NULL);
  CHECK(bertqa_entity_list_summary(NULL) == NULL);
}

static void test_options(void) {
  bertqa_entity_list *every = found(text, sizeof text - 1, NULL), *list;
  size_t per = 0, sure = 0;
  for (size_t i = 0; i < bertqa_entity_list_count(every); i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(every, i);
    CHECK(strcmp(entity->label, "O") != 0);
    per += strcmp(entity->label, "PER") == 0;
    sure += entity->score >= 0.6f;
  }
  CHECK(per > 0 && per < bertqa_entity_list_count(every) && sure < bertqa_entity_list_count(every));
  const bertqa_text labels[] = {{"PER", 3}, {"I-LOC", 5}};
  bertqa_entities_options options = BERTQA_ENTITIES_OPTIONS_INIT;
  options.labels = labels;
  options.label_count = 1;
  list = found(text, sizeof text - 1, &options);
  CHECK(bertqa_entity_list_count(list) == per);
  bertqa_entity_list_free(list);
  bertqa_entities_options_init(&options, sizeof options);
  options.threshold = 0.6f;
  list = found(text, sizeof text - 1, &options);
  CHECK(bertqa_entity_list_count(list) == sure);
  bertqa_entity_list_free(list);
  bertqa_entities_options_init(&options, sizeof options);
  options.max_seq_len = 10;
  options.doc_stride = -1;
  for (int32_t i = BERTQA_AGGREGATION_MODEL; i <= BERTQA_AGGREGATION_MAX; i++) {
    options.aggregation = i;
    list = found(text, sizeof text - 1, &options);
    CHECK(bertqa_entity_list_summary(list)->window_count > 1);
    bertqa_entity_list_free(list);
  }
  bertqa_entity_list_free(every);
}

static void test_batches(void) {
  const bertqa_text texts[] = {{text, sizeof text - 1}, {NULL, 0}, {"\xff\0\xfe", 3}, {text, 9}, {" \n", 2}};
  enum { COUNT = sizeof texts / sizeof texts[0] };
  bertqa_entity_list *all[COUNT + 1], *one;
  bertqa_status statuses[COUNT + 1];
  CHECK_STATUS(BERTQA_OK, bertqa_entities_batch(context, texts, COUNT, NULL, all, NULL));
  for (size_t i = 0; i < COUNT; i++) {
    one = found(texts[i].text, texts[i].length, NULL);
    CHECK(same(one, all[i]));
    bertqa_entity_list_free(one);
    bertqa_entity_list_free(all[i]);
  }
  CHECK_STATUS(BERTQA_OK, bertqa_entities_batch(context, NULL, 0, NULL, NULL, NULL));

  const bertqa_text bad[] = {texts[0], {NULL, 4}, texts[3]};
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_entities_batch(context, bad, 3, NULL, all, NULL));
  CHECK(all[0] == NULL && all[1] == NULL && strstr(bertqa_last_error(), "texts[1]") != NULL);
  CHECK_STATUS(BERTQA_OK, bertqa_entities_batch(context, bad, 3, NULL, all, statuses));
  CHECK(statuses[0] == BERTQA_OK && statuses[1] == BERTQA_ERROR_INVALID_ARGUMENT && statuses[2] == BERTQA_OK);
  CHECK(all[0] != NULL && all[1] == NULL && all[2] != NULL && bertqa_last_error_item() == 1);
  one = found(text, 9, NULL);
  CHECK(same(one, all[2]));
  bertqa_entity_list_free(one);
  bertqa_entity_list_free(all[0]);
  bertqa_entity_list_free(all[2]);
}

static int32_t stop(void *user) { return ++*(int *)user; }

static void test_refused(void) {
  bertqa_entity_list *list;
  bertqa_entities_options options;
#define REFUSED(field, value)                                                                             \
  do {                                                                                                    \
    bertqa_entities_options_init(&options, sizeof options);                                               \
    options.field = value;                                                                                \
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(context, "a", 1, &options, &list));  \
  } while (0)
  REFUSED(max_seq_len, 7);
  REFUSED(max_seq_len, -1);
  REFUSED(doc_stride, -2);
  REFUSED(aggregation, 6);
  REFUSED(aggregation, -1);
  REFUSED(threshold, -0.5f);
  REFUSED(threshold, NAN);
  REFUSED(label_count, 1);
  REFUSED(labels, (&(bertqa_text){"PER", 3})); /* of none */
  REFUSED(ignore_label_count, 1);
  const bertqa_text unknown[] = {{"PER", 3}, {"CITY", 4}}, empty = {NULL, 0};
  bertqa_entities_options_init(&options, sizeof options);
  options.labels = unknown;
  options.label_count = 2;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(context, "a", 1, &options, &list));
  CHECK(strstr(bertqa_last_error(), "CITY") != NULL && strcmp(bertqa_last_error_argument(), "labels") == 0);
  options.labels = &empty;
  options.label_count = 1;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(context, "a", 1, &options, &list));
  options.label_count = SIZE_MAX;
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, list, bertqa_entities(context, "a", 1, &options, &list));
  bertqa_entities_options_init(&options, sizeof options);
  int calls = 0;
  const bertqa_call_options call = {.struct_size = sizeof call, .cancel = stop, .user = &calls};
  options.nested = 2;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(context, "a", 1, &options, &list));
  options.nested = BERTQA_ON;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(context, "a", 1, &options, &list));
  options.nested = BERTQA_OFF;
  options.call = &call;
  CHECK_FAILS(BERTQA_ERROR_CANCELLED, list, bertqa_entities(context, "a", 1, &options, &list));
  CHECK(calls == 1);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(NULL, "a", 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(context, NULL, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, list, bertqa_entities(context, "a", SIZE_MAX, NULL, &list));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_entities(context, "a", 1, NULL, NULL));
  CHECK_STRUCT_SIZES(bertqa_entities_options, aggregation, reserved, list,
                     bertqa_entities(context, "a", 1, options, &list), bertqa_entity_list_free);
}

/* A model that finds what labels name. */
static void test_any_labels(void) {
  bertqa_context *gliner = fixture_context("tiny-gliner", 1);
  const char text[] = "The quick brown fox jumps over the lazy dog.";
  const size_t length = sizeof text - 1;
  bertqa_entity_list *flat, *nested, *list;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(gliner, text, length, NULL, &list));
  CHECK(strcmp(bertqa_last_error_argument(), "labels") == 0);
  const bertqa_text labels[] = {{"person", 6}, {"the city", 8}, {"film or river", 13}, {"time", 4}};
  bertqa_entities_options options = BERTQA_ENTITIES_OPTIONS_INIT;
  options.labels = labels;
  options.label_count = 4;
  CHECK_STATUS(BERTQA_OK, bertqa_entities(gliner, text, length, &options, &flat));
  options.nested = BERTQA_ON;
  CHECK_STATUS(BERTQA_OK, bertqa_entities(gliner, text, length, &options, &nested));
  CHECK(bertqa_entity_list_count(flat) > 1 && bertqa_entity_list_count(nested) > bertqa_entity_list_count(flat));
  size_t end = 0;
  for (size_t i = 0; i < bertqa_entity_list_count(flat); i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(flat, i);
    CHECK(entity->bytes.start >= end && entity->bytes.end <= length && entity->score >= 0.5f && entity->score <= 1);
    end = entity->bytes.end;
    int known = 0;
    for (size_t k = 0; k < 4; k++) known += strcmp(entity->label, labels[k].text) == 0;
    CHECK(known == 1);
  }
  bertqa_entity_list_free(flat);
  bertqa_entity_list_free(nested);
  /* No label has a score of 1, and 0 is the call's threshold. */
  const float thresholds[] = {1, 1, 0, 1};
  options.thresholds = thresholds;
  CHECK_STATUS(BERTQA_OK, bertqa_entities(gliner, text, length, &options, &list));
  CHECK(bertqa_entity_list_count(list) > 0);
  for (size_t i = 0; i < bertqa_entity_list_count(list); i++)
    CHECK(strcmp(bertqa_entity_list_get(list, i)->label, labels[2].text) == 0);
  bertqa_entity_list_free(list);
  const float wrong[] = {0.5f, -1, 0, 0};
  options.thresholds = wrong;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(gliner, text, length, &options, &list));
  CHECK(strcmp(bertqa_last_error_argument(), "thresholds") == 0);
  options.thresholds = thresholds;
  options.labels = NULL, options.label_count = 0;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(gliner, text, length, &options, &list));
  CHECK(strcmp(bertqa_last_error_argument(), "thresholds") == 0);
  options.thresholds = NULL;
  options.labels = labels, options.label_count = 4;
  options.aggregation = BERTQA_AGGREGATION_FIRST;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(gliner, text, length, &options, &list));
  bertqa_context_free(gliner);
}

static void test_wrong_models(void) {
  bertqa_context *qa = tiny_context(1);
  bertqa_entity_list *list;
  bertqa_answers *answers;
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, list, bertqa_entities(qa, "a", 1, NULL, &list));
  CHECK(strstr(bertqa_last_error(), "ForTokenClassification") != NULL);
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, answers, bertqa_answer(context, "a", 1, "b", 1, NULL, &answers));
  bertqa_context_free(qa);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = fixture_context("tiny-bert-entities", 2);
  test_list();
  test_options();
  test_batches();
  test_refused();
  test_any_labels();
  test_wrong_models();
  bertqa_context_free(context);
  return finish();
}
