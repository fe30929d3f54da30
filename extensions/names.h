/* Lists of names in SQL. */
#ifndef BERTQA_NAMES_H
#define BERTQA_NAMES_H

#include <bertqa_experimental.h>

/* Names that commas separate: codes of regions, labels. */
typedef struct name_list {
  bertqa_text names[256];
  size_t count;
} name_list;

/* White space around names does not count, and empty names are left out. Returns an error's text, or NULL. */
static const char *read_names(bertqa_text text, name_list *list) {
  list->count = 0;
  size_t start = 0;
  for (size_t end = 0; end <= text.length; end++) {
    if (end < text.length && text.text[end] != ',') continue;
    size_t first = start, last = end;
    while (first < last && (unsigned char)text.text[first] <= ' ') first++;
    while (last > first && (unsigned char)text.text[last - 1] <= ' ') last--;
    start = end + 1;
    if (first == last) continue;
    if (list->count == sizeof list->names / sizeof *list->names)
      return "more than 256 regions or labels";
    list->names[list->count++] = (bertqa_text){text.text + first, last - first};
  }
  return NULL;
}

#endif
