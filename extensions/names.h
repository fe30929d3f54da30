/* Lists of names in SQL. */
#ifndef BERTQA_NAMES_H
#define BERTQA_NAMES_H

#include <bertqa_experimental.h>

/* Names that commas separate: codes of regions, labels. */
typedef struct name_list {
  bertqa_text names[256];
  size_t count;
} name_list;

/* An empty text has no names. Returns an error's text, or NULL. */
static const char *read_names(bertqa_text text, name_list *list) {
  list->count = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.length && text.length > 0; i++) {
    if (i < text.length && text.text[i] != ',') continue;
    if (list->count == sizeof list->names / sizeof *list->names)
      return "more than 256 regions or labels";
    list->names[list->count++] = (bertqa_text){text.text + start, i - start};
    start = i + 1;
  }
  return NULL;
}

#endif
