/* Entities of a text, by models, rules and the host's ranges, and what replaces them. What pseudonyms replace comes back. */
#include "fuzz.h"

enum { lists = 4 };

static void require_redaction(const char *text, size_t length, bertqa_entity_list *const *found, input *in,
                              const bertqa_call_options *call) {
  OPTIONS(redact, options);
  options.call = call;
  options.replacement = draw(in) % 6;
  bertqa_pseudonyms *names;
  REQUIRE(is_ok(bertqa_pseudonyms_create(&names)));
  input name = draw_bytes(in, 16), value = draw_bytes(in, 16);
  is_ok(bertqa_pseudonyms_add(names, chars(name), name.size, chars(value), value.size));
  if (options.replacement == BERTQA_REPLACEMENT_PSEUDONYM) options.pseudonyms = names;
  if (options.replacement == BERTQA_REPLACEMENT_TEXT) options.text = "x", options.text_length = draw(in) % 2;
  if (options.replacement == BERTQA_REPLACEMENT_HASH) options.key = "0123456789abcdef", options.key_length = 16;
  if (options.replacement == BERTQA_REPLACEMENT_MASK) options.keep = draw(in) % 8;
  size_t needed = 0, restored = 0;
  const bertqa_entity_list *const *of_text = (const bertqa_entity_list *const *)found;
  is_ok(bertqa_redact(text, length, of_text, lists, &options, NULL, 0, &needed));
  char *output = malloc(needed + 1), *back = malloc(length + 1);
  if (is_ok(bertqa_redact(text, length, of_text, lists, &options, output, needed, &needed)) &&
      options.pseudonyms != NULL) {
    REQUIRE(is_ok(bertqa_restore(output, needed, names, NULL, back, length, &restored)));
    REQUIRE(restored == length && (length == 0 || memcmp(text, back, length) == 0));
  }
  size_t count = bertqa_pseudonyms_count(names);
  for (size_t i = 0; i < count; i++) REQUIRE(bertqa_pseudonyms_get(names, i)->name.length > 0);
  REQUIRE(bertqa_pseudonyms_get(names, count) == NULL);
  free(output);
  free(back);
  bertqa_pseudonyms_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const bertqa_context *contexts[3];
  if (contexts[0] == NULL) {
    contexts[0] = fixture("tiny-bert-entities", BERTQA_OFF);
    contexts[1] = fixture("tiny-gliner", BERTQA_OFF);
    contexts[2] = fixture("tiny-deberta-entities", BERTQA_OFF);
  }
  input in = {data, size};
  bertqa_call_options call;
  bertqa_call_options_init(&call, sizeof call);
  call.max_bytes = 1 << 28;
  uint8_t kind = draw(&in);
  input name = draw_bytes(&in, 32), other = draw_bytes(&in, 32), text = draw_bytes(&in, 4096);
  const bertqa_text names[] = {{chars(name), name.size}, {chars(other), other.size}};
  bertqa_entity_list *found[lists] = {0};

  OPTIONS(patterns, by_rule);
  by_rule.call = &call;
  by_rule.regions = names;
  by_rule.region_count = kind & 1;
  by_rule.patterns = (1 << 26) - 1;
  if (kind & 2) is_ok(bertqa_patterns_named(chars(other), other.size, &by_rule.patterns));
  is_ok(bertqa_patterns(chars(text), text.size, &by_rule, &found[0]));
  int32_t is_right = -1;
  REQUIRE(!is_ok(bertqa_checksum(chars(name), name.size, chars(text), text.size, &is_right)) || is_right >> 1 == 0);

  const bertqa_context *context = contexts[kind / 4 % 3];
  OPTIONS(entities, options);
  options.call = &call;
  options.labels = names;
  options.label_count = context == contexts[1] || kind & 128 ? 1 + (kind & 1) : 0;
  options.aggregation = kind & 64 ? (int8_t)draw(&in) : BERTQA_AGGREGATION_SIMPLE;
  options.threshold = (float)draw(&in) / 256;
  options.max_seq_len = kind & 32 ? draw(&in) : 0;
  options.nested = kind & 16 ? BERTQA_ON : BERTQA_OFF;
  const bertqa_text texts[] = {{chars(text), text.size}, {chars(other), other.size}};
  bertqa_entity_list *both[2];
  bertqa_status statuses[2];
  if (kind & 8) {
    is_ok(bertqa_entities_batch(context, texts, 2, &options, both, kind & 1 ? statuses : NULL));
    require_entities(both[1], other.size);
    bertqa_entity_list_free(both[1]);
    found[1] = both[0];
  } else {
    is_ok(bertqa_entities(context, chars(text), text.size, &options, &found[1]));
  }

  bertqa_labelled_range ranges[4];
  size_t count = draw(&in) % 5;
  for (size_t i = 0; i < count; i++) {
    size_t start = draw(&in), length = draw(&in);
    ranges[i] = (bertqa_labelled_range){{start, start + length}, "PER", draw(&in) % 4, 1, 0};
  }
  is_ok(bertqa_entity_list_create(chars(text), text.size, ranges, count, &call, &found[2]));
  const bertqa_entity_list *const *of_text = (const bertqa_entity_list *const *)found;
  is_ok(kind & 1 ? bertqa_everywhere(chars(text), text.size, of_text, 3, &call, &found[3])
                 : bertqa_apply_lists(chars(text), text.size, of_text, 3, names, 1, names + 1, 1, &call, &found[3]));
  for (int i = 0; i < lists; i++) require_entities(found[i], text.size);
  require_redaction(chars(text), text.size, found, &in, &call);
  for (int i = 0; i < lists; i++) bertqa_entity_list_free(found[i]);
  return 0;
}
