/* Entities: lists, options, batches; patterns; redaction; and who is refused. */
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

static const char mail[] = "Write to j\xc3\xb6rg@example.org or +49 30 901820, card 4111 1111 1111 1111.";

static void test_patterns(void) {
  static const struct {
    const char *label, *found;
  } expected[] = {{"EMAIL", "j\xc3\xb6rg@example.org"}, {"PHONE", "+49 30 901820"}, {"CARD", "4111 1111 1111 1111"}};
  bertqa_entity_list *list;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(mail, sizeof mail - 1, NULL, &list));
  CHECK(bertqa_entity_list_count(list) == 3);
  for (size_t i = 0; i < bertqa_entity_list_count(list); i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(list, i);
    CHECK(strcmp(entity->label, expected[i].label) == 0 && entity->score == 1);
    CHECK(entity->bytes.end - entity->bytes.start == strlen(expected[i].found));
    CHECK(memcmp(mail + entity->bytes.start, expected[i].found, strlen(expected[i].found)) == 0);
    CHECK(entity->code_points.start == code_points(mail, entity->bytes.start));
  }
  CHECK(bertqa_entity_list_summary(list)->window_count == 0);
  bertqa_entity_list_free(list);
  bertqa_patterns_options options = BERTQA_PATTERNS_OPTIONS_INIT;
  options.patterns = BERTQA_PATTERN_CARD | BERTQA_PATTERN_IBAN;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(mail, sizeof mail - 1, &options, &list));
  CHECK(bertqa_entity_list_count(list) == 1 && strcmp(bertqa_entity_list_get(list, 0)->label, "CARD") == 0);
  bertqa_entity_list_free(list);
  options = (bertqa_patterns_options)BERTQA_PATTERNS_OPTIONS_INIT;
  const bertqa_text regions[] = {{"DE", 2}, {"dk", 2}, {"Denmark", 7}};
  options.regions = regions;
  options.region_count = 2;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns("80991098", 8, &options, &list));
  CHECK(bertqa_entity_list_count(list) == 1);
  bertqa_entity_list_free(list);
  options.region_count = 3;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_patterns("a", 1, &options, &list));
  options.regions = NULL;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_patterns("a", 1, &options, &list));
  options.region_count = 0;
  options.patterns = 1 << 26;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_patterns("a", 1, &options, &list));
  options.patterns = -1;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_patterns("a", 1, &options, &list));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_patterns(NULL, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, list, bertqa_patterns("a", SIZE_MAX, NULL, &list));
  CHECK_STRUCT_SIZES(bertqa_patterns_options, bertqa_patterns_options_init, reserved, list,
                     bertqa_patterns("a", 1, options, &list), bertqa_entity_list_free);
}

static int32_t stop(void *user) { return ++*(int *)user; }

static void test_redaction(void) {
  static const char labels[] = "Write to [EMAIL] or [PHONE], card [CARD].", stars[] = "Write to * or *, card *.";
  bertqa_entity_list *list;
  char output[256];
  size_t needed;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(mail, sizeof mail - 1, NULL, &list));
  /* Twice the same: what overlaps is replaced as one. */
  const bertqa_entity_list *const lists[] = {list, NULL, list};
  bertqa_redact_options options = BERTQA_REDACT_OPTIONS_INIT;
#define REDACT(room) bertqa_redact(mail, sizeof mail - 1, lists, 3, &options, output, room, &needed)
#define GIVES(expected) (needed == sizeof expected - 1 && memcmp(output, expected, needed) == 0)
  CHECK_STATUS(BERTQA_OK, bertqa_redact(mail, sizeof mail - 1, lists, 3, NULL, output, sizeof output, &needed));
  CHECK(GIVES(labels));
  CHECK_STATUS(BERTQA_OK, REDACT(sizeof output));
  CHECK(GIVES(labels));
  output[0] = '?';
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REDACT(sizeof labels - 2));
  CHECK(needed == sizeof labels - 1 && output[0] == '?');
  options.replacement = BERTQA_REPLACEMENT_TEXT;
  options.text = "*";
  options.text_length = 1;
  CHECK_STATUS(BERTQA_OK, REDACT(sizeof stars - 1));
  CHECK(GIVES(stars));
  options.text_length = 0;
  CHECK_STATUS(BERTQA_OK, REDACT(sizeof output));
  CHECK(needed == sizeof stars - 4);
  options = (bertqa_redact_options)BERTQA_REDACT_OPTIONS_INIT;
#define REDACT_OF(length, lists, count, output, needed) bertqa_redact(mail, length, lists, count, NULL, output, 256, needed)
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REDACT_OF(sizeof mail - 1, lists, 3, NULL, &needed));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REDACT_OF(20, lists, 3, output, &needed));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REDACT_OF(20, NULL, 3, output, &needed));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REDACT_OF(20, lists, 3, output, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_redact("ab", 2, NULL, 0, NULL, output, 256, &needed));
  CHECK(needed == 2 && memcmp(output, "ab", 2) == 0);
  CHECK_STATUS(BERTQA_OK, bertqa_redact(NULL, 0, NULL, 0, NULL, NULL, 0, &needed));
  CHECK(needed == 0);
  int calls = 0;
  bertqa_call_options call = {.struct_size = sizeof call, .cancel = stop, .user = &calls};
  options.call = &call;
  CHECK_STATUS(BERTQA_ERROR_CANCELLED, REDACT(256));
  CHECK(calls == 1);
  call = (bertqa_call_options){.struct_size = sizeof call, .deadline_ns = 1};
  CHECK_STATUS(BERTQA_ERROR_DEADLINE_EXCEEDED, REDACT(256));
  call = (bertqa_call_options){.struct_size = sizeof call, .max_bytes = sizeof labels};
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, REDACT(256));
  call.max_bytes += 6 * sizeof(void *); /* for the order of the entities, each of which is passed twice */
  CHECK_STATUS(BERTQA_OK, REDACT(256));
  call.struct_size = 4;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REDACT(256));
  bertqa_entity_list_free(list);
}

/* The replacements that depend on what they replace. */
static void test_replacements(void) {
  static const char text[] = "Ann: 078-05-1120, Ann, [A_7]";
  const bertqa_labelled_range ranges[] = {
      {{18, 21}, "A", 1, 1, 0}, {{0, 3}, "A", 1, 1, 0}, {{5, 16}, "SSN", 3, 1, 0}, {{5, 8}, "B", 1, 1, 0}};
  bertqa_entity_list *list;
  CHECK_STATUS(BERTQA_OK, bertqa_entity_list_create(text, sizeof text - 1, ranges, 4, NULL, &list));
  CHECK(bertqa_entity_list_count(list) == 4 && bertqa_entity_list_get(list, 1)->bytes.end == 16);
  CHECK(bertqa_entity_list_get(list, 1)->code_points.end == 16 && bertqa_entity_list_get(list, 2)->code_points.end == 8);
  char output[256];
  size_t needed;
  bertqa_redact_options options = BERTQA_REDACT_OPTIONS_INIT;
#define REPLACE \
  bertqa_redact(text, sizeof text - 1, (const bertqa_entity_list *const *)&list, 1, &options, output, 256, &needed)
  options.replacement = BERTQA_REPLACEMENT_MASK;
  CHECK_STATUS(BERTQA_OK, REPLACE);
  CHECK(GIVES("***: ***-**-****, ***, [A_7]"));
  options.keep = 4; /* of three letters at most one */
  CHECK_STATUS(BERTQA_OK, REPLACE);
  CHECK(GIVES("**n: ***-**-1120, **n, [A_7]"));
  options.keep = -1;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REPLACE);
  options = (bertqa_redact_options)BERTQA_REDACT_OPTIONS_INIT;
  options.replacement = BERTQA_REPLACEMENT_HASH;
  options.key = "0123456789abcdef";
  options.key_length = 16;
  CHECK_STATUS(BERTQA_OK, REPLACE);
  CHECK(strncmp(output, "[A_", 3) == 0 && strncmp(output + needed - 7 - 36, output, 36) == 0);
  options.key_length = 15;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REPLACE);
  CHECK(strcmp(bertqa_last_error_argument(), "key") == 0);
  options = (bertqa_redact_options)BERTQA_REDACT_OPTIONS_INIT;
  options.replacement = BERTQA_REPLACEMENT_PSEUDONYM;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REPLACE);
  CHECK_STATUS(BERTQA_OK, bertqa_pseudonyms_create(&options.pseudonyms));
  CHECK_STATUS(BERTQA_OK, bertqa_pseudonyms_add(options.pseudonyms, "[A_4]", 5, "Bo", 2));
  CHECK_STATUS(BERTQA_OK, bertqa_pseudonyms_add(options.pseudonyms, "[A_4]", 5, "Bo", 2));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_pseudonyms_add(options.pseudonyms, "[A_4]", 5, "Al", 2));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_pseudonyms_add(options.pseudonyms, "A_4", 3, "Al", 2));
  CHECK_STATUS(BERTQA_OK, REPLACE);
  CHECK(GIVES("[A_5]: [SSN_1], [A_5], [LITERAL_1]"));
  CHECK(bertqa_pseudonyms_count(options.pseudonyms) == 4);
  const bertqa_pseudonym *name = bertqa_pseudonyms_get(options.pseudonyms, 2);
  CHECK(name->name.length == 7 && memcmp(name->name.text, "[SSN_1]", 7) == 0);
  CHECK(name->value.length == 11 && memcmp(name->value.text, "078-05-1120", 11) == 0);
  CHECK(bertqa_pseudonyms_get(options.pseudonyms, 4) == NULL && bertqa_pseudonyms_get(NULL, 0) == NULL);
  CHECK(bertqa_pseudonyms_get(options.pseudonyms, 0)->value.length == 2);
  char restored[256];
  const size_t size = needed;
#define RESTORE(room) bertqa_restore(output, size, options.pseudonyms, NULL, restored, room, &needed)
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, RESTORE(sizeof text - 2));
  CHECK(needed == sizeof text - 1);
  CHECK_STATUS(BERTQA_OK, RESTORE(sizeof restored));
  CHECK(needed == sizeof text - 1 && memcmp(restored, text, needed) == 0);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_restore("a", 1, NULL, NULL, restored, 256, &needed));
  options.replacement = 5;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REPLACE);
  options.replacement = BERTQA_REPLACEMENT_LABEL;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, REPLACE); /* pseudonyms without their replacement */
  bertqa_pseudonyms_free(options.pseudonyms);
  bertqa_pseudonyms_free(NULL);
  static const char twice[] = "Ann Smith; ANN  SMITH's, ann";
  const bertqa_labelled_range once = {{0, 9}, "PER", 3, 0.5f, 0};
  bertqa_entity_list *every, *one;
  CHECK_STATUS(BERTQA_OK, bertqa_entity_list_create(twice, sizeof twice - 1, &once, 1, NULL, &one));
  const bertqa_entity_list *const both[] = {one, NULL};
  CHECK_STATUS(BERTQA_OK, bertqa_everywhere(twice, sizeof twice - 1, both, 2, NULL, &every));
  CHECK(bertqa_entity_list_count(every) == 2 && bertqa_entity_list_get(every, 1)->bytes.start == 11);
  CHECK(bertqa_entity_list_get(every, 1)->bytes.end == 21 && bertqa_entity_list_get(every, 1)->score == 0.5f);
  bertqa_entity_list_free(every);
  const bertqa_text ann = {"ann smith", 9}, mark = {"--", 2};
  CHECK_STATUS(BERTQA_OK, bertqa_apply_lists(twice, sizeof twice - 1, both, 2, &ann, 1, NULL, 0, NULL, &every));
  CHECK(bertqa_entity_list_count(every) == 0);
  bertqa_entity_list_free(every);
  /* A denied text is replaced even if it is allowed. */
  CHECK_STATUS(BERTQA_OK, bertqa_apply_lists(twice, sizeof twice - 1, both, 2, &ann, 1, &ann, 1, NULL, &every));
  CHECK(bertqa_entity_list_count(every) == 2);
  const bertqa_entity *denied = bertqa_entity_list_get(every, 0);
  CHECK(strcmp(denied->label, "DENIED") == 0 && strcmp(denied->rule, "deny") == 0 && denied->checksum == NULL);
  CHECK(denied->context.end == 0 && denied->score == 1 && denied->bytes.start == 0 && denied->bytes.end == 9);
  bertqa_entity_list_free(every);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, every, bertqa_apply_lists("abc", 3, NULL, 0, NULL, 1, NULL, 0, NULL, &every));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, every, bertqa_apply_lists("abc", 3, NULL, 0, NULL, 0, &mark, 1, NULL, &every));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, every, bertqa_apply_lists("abc", 3, both, 2, NULL, 0, NULL, 0, NULL, &every));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, every, bertqa_everywhere("abc", 3, both, 2, NULL, &every));
  CHECK_STATUS(BERTQA_OK, bertqa_everywhere(NULL, 0, NULL, 0, NULL, &every));
  CHECK(bertqa_entity_list_count(every) == 0);
  bertqa_entity_list_free(every);
  bertqa_entity_list_free(one);
  static const char paid[] = "Tel. 030 901820, 4111 1111 1111 1111";
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(paid, sizeof paid - 1, NULL, &every));
  CHECK(bertqa_entity_list_count(every) == 2);
  const bertqa_entity *phone = bertqa_entity_list_get(every, 0), *card = bertqa_entity_list_get(every, 1);
  CHECK(strcmp(phone->rule, "phone") == 0 && phone->checksum == NULL && phone->score == 1);
  CHECK(phone->context.start == 0 && phone->context.end == 3);
  CHECK(strcmp(card->rule, "card") == 0 && strcmp(card->checksum, "luhn") == 0 && card->context.end == 0);
  bertqa_entity_list_free(every);
  int32_t is_right;
  CHECK_STATUS(BERTQA_OK, bertqa_checksum("mod97", 5, "5493 0084UKLVMY22DS16", 21, &is_right));
  CHECK(is_right == 1);
  CHECK_STATUS(BERTQA_OK, bertqa_checksum("mod97", 5, "5493 0084UKLVMY22DS17", 21, &is_right));
  CHECK(is_right == 0);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_checksum("phone", 5, "1", 1, &is_right));
  CHECK(strstr(bertqa_last_error(), "uk_nhs") != NULL && strstr(bertqa_last_error(), "us_ssn") == NULL);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_checksum("luhn", 4, "1", 1, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_checksum("luhn", 4, NULL, 1, &is_right));
  bertqa_pattern kinds;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns_named("us, mac", 7, &kinds));
  CHECK(kinds == (BERTQA_PATTERN_US_SSN | BERTQA_PATTERN_US_ITIN | BERTQA_PATTERN_MAC));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_patterns_named("us,", 3, &kinds));
  CHECK(kinds == 0 && strstr(bertqa_last_error(), "us_ssn") != NULL);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_patterns_named("", 0, &kinds));
  bertqa_entity_list_free(list);
  const bertqa_labelled_range outside[] = {{{0, 9}, "A", 1, 1, 0}}, reversed[] = {{{2, 1}, "A", 1, 1, 0}}, unnamed[] = {{{0, 1}, "", 0, 1, 0}};
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, outside, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, reversed, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, unnamed, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, NULL, 1, NULL, &list));
}

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
  options.reserved = 1;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(context, "a", 1, &options, &list));
  options.reserved = 0;
  options.call = &call;
  CHECK_FAILS(BERTQA_ERROR_CANCELLED, list, bertqa_entities(context, "a", 1, &options, &list));
  CHECK(calls == 1);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(NULL, "a", 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entities(context, NULL, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, list, bertqa_entities(context, "a", SIZE_MAX, NULL, &list));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_entities(context, "a", 1, NULL, NULL));
  CHECK_STRUCT_SIZES(bertqa_entities_options, bertqa_entities_options_init, reserved, list,
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
  options.thresholds = NULL;
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
  test_patterns();
  test_redaction();
  test_replacements();
  test_refused();
  test_any_labels();
  test_wrong_models();
  bertqa_context_free(context);
  return finish();
}
