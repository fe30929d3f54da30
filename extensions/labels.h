/* The labels of bertqa_classify and bertqa_labels in SQL. */
#ifndef BERTQA_LABELS_H
#define BERTQA_LABELS_H

#include "names.h"

/* Makes the options classify by a list of labels. names: outlives the call. Returns an error's text, or NULL. */
static const char *set_labels(bertqa_text text, name_list *names,
                              bertqa_classify_options *options) {
  const char *wrong = read_names(text, names);
  if (wrong != NULL) return wrong;
  if (names->count == 0)
    return "the labels of bertqa_classify and bertqa_labels are names separated by commas";
  options->labels = names->names;
  options->label_count = names->count;
  return NULL;
}

#endif
