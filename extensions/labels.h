/* The labels of bertqa_classify, bertqa_labels, bertqa_entities and bertqa_redact in SQL. */
#ifndef BERTQA_LABELS_H
#define BERTQA_LABELS_H

#include <string.h>

#include "names.h"

/* Returns an error's text, or NULL. */
static inline const char *check_labels(const name_list *labels) {
  if (labels->count == 0) return "the labels are names separated by commas";
  for (size_t i = 0; i < labels->count; i++) {
    for (size_t other = 0; other < i; other++) {
      const bertqa_text a = labels->names[i], b = labels->names[other];
      if (a.length == b.length && memcmp(a.text, b.text, a.length) == 0)
        return "the labels have a name twice";
    }
  }
  return NULL;
}

/* Makes the options classify by a list of labels. names: outlives the call. Returns an error's text, or NULL. */
static inline const char *set_labels(bertqa_text text, name_list *names,
                                     bertqa_classify_options *options) {
  const char *wrong = read_names(text, names);
  if (wrong == NULL) wrong = check_labels(names);
  if (wrong != NULL) return wrong;
  options->labels = names->names;
  options->label_count = names->count;
  return NULL;
}

/* Labels of entities, and a threshold for each; 0 for the model's own. */
typedef struct threshold_list {
  name_list names;
  float thresholds[sizeof((name_list *)0)->names / sizeof(bertqa_text)];
} threshold_list;

/* Takes "=NUMBER" from the end of a label, and returns the number; 0 if there is none. The number has the C locale's
 * decimal point, whatever the host's locale is. */
static inline float take_threshold(bertqa_text *name) {
  size_t begin = name->length;
  while (begin > 0 && (name->text[begin - 1] == '.' ||
                       (name->text[begin - 1] >= '0' && name->text[begin - 1] <= '9')))
    begin--;
  bertqa_text label = without_spaces((bertqa_text){name->text, begin});
  if (begin == name->length || label.length == 0 || label.text[label.length - 1] != '=') return 0;
  double value = 0, place = 0;
  for (size_t i = begin; i < name->length; i++) {
    if (name->text[i] == '.') {
      if (place != 0 || name->length - begin == 1) return 0;
      place = 1;
      continue;
    }
    value = 10 * value + (name->text[i] - '0');
    place *= 10;
  }
  label.length--;
  label = without_spaces(label);
  if (label.length == 0) return 0;
  *name = label;
  return (float)(value / (place > 0 ? place : 1));
}

/* Makes the options find the labels in a list such as "product=0.7, disease"; "*" stands for all. list: outlives the
 * call. Returns an error's text, or NULL. */
static inline const char *set_entity_labels(bertqa_text text, threshold_list *list,
                                            bertqa_entities_options *options) {
  const char *wrong = read_names(text, &list->names);
  if (wrong != NULL) return wrong;
  const bertqa_text first = list->names.names[0];
  if (list->names.count == 1 && first.length == 1 && first.text[0] == '*') return NULL;
  for (size_t i = 0; i < list->names.count; i++)
    list->thresholds[i] = take_threshold(&list->names.names[i]);
  wrong = check_labels(&list->names);
  if (wrong != NULL) return wrong;
  options->labels = list->names.names;
  options->label_count = list->names.count;
  options->thresholds = list->thresholds;
  return NULL;
}

#endif
