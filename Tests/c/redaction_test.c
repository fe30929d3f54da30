/* Personal data by rules, and redaction. None needs a model. */
#include "check.h"
#include "structs.h"

static const char mail[] = "Write to j\xc3\xb6rg@example.org or +49 30 901820, card 4111 1111 1111 1111.";

static void test_patterns(void) {
  static const struct {
    const char *label, *found;
    size_t code_point;
  } expected[] = {
      {"EMAIL", "j\xc3\xb6rg@example.org", 9}, {"PHONE", "+49 30 901820", 29}, {"CARD", "4111 1111 1111 1111", 49}};
  bertqa_entity_list *list;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(mail, sizeof mail - 1, NULL, &list));
  CHECK(bertqa_entity_list_count(list) == 3);
  for (size_t i = 0; i < bertqa_entity_list_count(list); i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(list, i);
    CHECK(strcmp(entity->label, expected[i].label) == 0 && entity->score == 1);
    CHECK(entity->bytes.end - entity->bytes.start == strlen(expected[i].found));
    CHECK(memcmp(mail + entity->bytes.start, expected[i].found, strlen(expected[i].found)) == 0);
    CHECK(entity->code_points.start == expected[i].code_point);
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
  CHECK_STRUCT_SIZES(bertqa_patterns_options, patterns, reserved, list,
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

static bertqa_status redact_pointer(const bertqa_redact_options *options, void **out) {
  char output[1];
  size_t needed;
  *out = NULL;
  return bertqa_redact("a", 1, NULL, 0, options, output, sizeof output, &needed);
}

static void nothing(void *out) { (void)out; }

static void test_struct_sizes(void) {
  void *out;
  CHECK_STRUCT_SIZES(bertqa_redact_options, replacement, keep, out, redact_pointer(options, &out),
                     nothing);
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
  bertqa_entity_list_free(list);
}

/* Repeats of what was found, and texts to allow and to deny. */
static void test_lists(void) {
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
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, every, bertqa_everywhere("abc", 3, both, SIZE_MAX, NULL, &every));
  CHECK(strcmp(bertqa_last_error_argument(), "list_count") == 0);
  const bertqa_labelled_range outside[] = {{{0, 1}, "A", 1, 1, 0}, {{SIZE_MAX, SIZE_MAX}, "A", 1, 1, 0}};
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, every, bertqa_entity_list_create("abc", 3, outside, 2, NULL, &every));
  CHECK(bertqa_last_error_item() == 1);
  CHECK_STATUS(BERTQA_OK, bertqa_everywhere(NULL, 0, NULL, 0, NULL, &every));
  CHECK(bertqa_entity_list_count(every) == 0);
  bertqa_entity_list_free(every);
  bertqa_entity_list_free(one);
}

static void test_evidence(void) {
  static const char paid[] = "Tel. 030 901820, 4111 1111 1111 1111";
  bertqa_entity_list *every;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(paid, sizeof paid - 1, NULL, &every));
  CHECK(bertqa_entity_list_count(every) == 2);
  const bertqa_entity *phone = bertqa_entity_list_get(every, 0), *card = bertqa_entity_list_get(every, 1);
  CHECK(strcmp(phone->rule, "phone") == 0 && phone->checksum == NULL && phone->score == 1);
  CHECK(phone->context.start == 0 && phone->context.end == 3);
  CHECK(strcmp(card->rule, "card") == 0 && strcmp(card->checksum, "luhn") == 0 && card->context.end == 0);
  bertqa_entity_list_free(every);
}

static void test_checksums(void) {
  int32_t is_right;
  CHECK_STATUS(BERTQA_OK, bertqa_checksum("mod97", 5, "5493 0084UKLVMY22DS16", 21, &is_right));
  CHECK(is_right == 1);
  CHECK_STATUS(BERTQA_OK, bertqa_checksum("mod97", 5, "5493 0084UKLVMY22DS17", 21, &is_right));
  CHECK(is_right == 0);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_checksum("phone", 5, "1", 1, &is_right));
  CHECK(strstr(bertqa_last_error(), "uk_nhs") != NULL && strstr(bertqa_last_error(), "us_ssn") == NULL);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_checksum("luhn", 4, "1", 1, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_checksum("luhn", 4, NULL, 1, &is_right));
}

static void test_pattern_names(void) {
  bertqa_pattern kinds;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns_named("us, mac", 7, &kinds));
  CHECK(kinds == (BERTQA_PATTERN_US_SSN | BERTQA_PATTERN_US_ITIN | BERTQA_PATTERN_MAC));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_patterns_named("us,", 3, &kinds));
  CHECK(kinds == 0 && strstr(bertqa_last_error(), "us_ssn") != NULL);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_patterns_named("us", 2, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_patterns_named("", 0, &kinds));
  CHECK(strstr(bertqa_last_error(), "us_ssn") != NULL);
}

static void test_refused_ranges(void) {
  bertqa_entity_list *list;
  const bertqa_labelled_range outside[] = {{{0, 9}, "A", 1, 1, 0}}, reversed[] = {{{2, 1}, "A", 1, 1, 0}}, unnamed[] = {{{0, 1}, "", 0, 1, 0}},
                              reserved[] = {{{0, 1}, "A", 1, 1, 1}};
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, outside, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, reversed, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, unnamed, 1, NULL, &list));
  CHECK(bertqa_last_error_item() == 0 && strcmp(bertqa_last_error_argument(), "label") == 0);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, reserved, 1, NULL, &list));
  CHECK(bertqa_last_error_item() == 0 && strcmp(bertqa_last_error_argument(), "reserved") == 0);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_entity_list_create("abc", 3, NULL, 1, NULL, &list));
}

int main(int argc, char **argv) {
  begin(argc, argv);
  test_patterns();
  test_redaction();
  test_struct_sizes();
  test_replacements();
  test_lists();
  test_evidence();
  test_checksums();
  test_pattern_names();
  test_refused_ranges();
  return finish();
}
