/* The arguments of bertqa_redact in SQL, as options of the library. */
#ifndef BERTQA_REPLACEMENT_H
#define BERTQA_REPLACEMENT_H

#include <string.h>

#include "labels.h"

#define BERTQA_REDACT_USAGE                                                                        \
  "bertqa_redact(text, patterns, action, value, regions, labels): the action is 'label', 'text', " \
  "'mask', 'hash' or"                                                                              \
  " 'pseudonym'; the value is the text, the number of letters to keep, or the key"

/* Sets the replacement. value: with an empty text for none. Returns an error's text, or NULL. */
static const char *read_replacement(bertqa_text action, bertqa_text value,
                                    bertqa_redact_options *options) {
  static const char *const names[] = {"label", "text", "mask", "hash", "pseudonym"};
  bertqa_replacement number = 0;
  while (number < 5 && (strlen(names[number]) != action.length ||
                        memcmp(names[number], action.text, action.length) != 0))
    number++;
  options->replacement = number;
  switch (number) {
    case BERTQA_REPLACEMENT_TEXT:
      options->text = value.text;
      options->text_length = value.length;
      return NULL;
    case BERTQA_REPLACEMENT_HASH:
      options->key = value.text;
      options->key_length = value.length;
      return NULL;
    case BERTQA_REPLACEMENT_MASK:
      if (value.length > 9) return BERTQA_REDACT_USAGE;
      for (size_t i = 0; i < value.length; i++) {
        if (value.text[i] < '0' || value.text[i] > '9') return BERTQA_REDACT_USAGE;
        options->keep = 10 * options->keep + (value.text[i] - '0');
      }
      return NULL;
    case BERTQA_REPLACEMENT_LABEL:
    case BERTQA_REPLACEMENT_PSEUDONYM: return value.length == 0 ? NULL : BERTQA_REDACT_USAGE;
    default: return BERTQA_REDACT_USAGE;
  }
}

/* Finds personal data in a text and says how many bytes the text with its replacements has; then
 * end_redaction writes them, once, to memory of this size. Pseudonyms start anew in each text.
 * model: finds names, too, with the options entities; NULL for none. found: 2 lists. */
static bertqa_status begin_redaction(bertqa_text text, const bertqa_patterns_options *patterns,
                                     const bertqa_context *model, bertqa_entities_options *entities,
                                     bertqa_redact_options *options, bertqa_entity_list **found,
                                     size_t *length) {
  *length = 0;
  found[0] = found[1] = NULL;
  bertqa_status status = bertqa_patterns(text.text, text.length, patterns, &found[0]);
  if (status == BERTQA_OK && model != NULL) {
    entities->call = options->call;
    status = bertqa_entities(model, text.text, text.length, entities, &found[1]);
  }
  if (status == BERTQA_OK && options->replacement == BERTQA_REPLACEMENT_PSEUDONYM)
    status = bertqa_pseudonyms_create(&options->pseudonyms);
  if (status != BERTQA_OK) return status;
  const bertqa_entity_list *const lists[] = {found[0], found[1]};
  status = bertqa_redact(text.text, text.length, lists, 2, options, NULL, 0, length);
  /* The capacity of 0 is too small for any text but an empty one. */
  return *length > 0 ? BERTQA_OK : status;
}

/* output: NULL gives everything back without writing. */
static bertqa_status end_redaction(bertqa_text text, bertqa_redact_options *options,
                                   bertqa_entity_list **found, char *output, size_t length) {
  const bertqa_entity_list *const lists[] = {found[0], found[1]};
  bertqa_status status = BERTQA_OK;
  if (output != NULL)
    status = bertqa_redact(text.text, text.length, lists, 2, options, output, length, &length);
  bertqa_pseudonyms_free(options->pseudonyms);
  bertqa_entity_list_free(found[0]);
  bertqa_entity_list_free(found[1]);
  return status;
}

#endif
