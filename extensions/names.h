/* Lists of names in SQL. */
#ifndef BERTQA_NAMES_H
#define BERTQA_NAMES_H

#include <bertqa_experimental.h>

/* Names that commas separate: codes of regions, labels. */
typedef struct name_list {
  bertqa_text names[256];
  size_t count;
} name_list;

/* Returns the number of bytes of the white space (Unicode's, or an ASCII control character) at the beginning of a text;
 * 0 if there is none. */
static inline size_t space_length(const char *text, size_t length) {
  const unsigned char *bytes = (const unsigned char *)text;
  if (length > 0 && bytes[0] <= ' ') return 1;
  if (length > 1 && bytes[0] == 0xC2) return bytes[1] == 0x85 || bytes[1] == 0xA0 ? 2 : 0;
  if (length < 3 || bytes[0] < 0xE1 || bytes[0] > 0xE3 || bytes[1] >> 6 != 2 || bytes[2] >> 6 != 2)
    return 0;
  unsigned point = (bytes[0] & 0x0Fu) << 12 | (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
  int is_space = point == 0x1680 || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
                 point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
  return is_space ? 3 : 0;
}

/* Returns the text without the white space around it. */
static inline bertqa_text without_spaces(bertqa_text text) {
  for (size_t size; (size = space_length(text.text, text.length)) > 0;) {
    text.text += size;
    text.length -= size;
  }
  for (size_t size = 1; size <= 3 && size <= text.length; size++) {
    if (space_length(text.text + text.length - size, size) != size) continue;
    text.length -= size;
    size = 0;
  }
  return text;
}

/* White space around names does not count, and empty names are left out. Returns an error's text, or NULL. */
static const char *read_names(bertqa_text text, name_list *list) {
  list->count = 0;
  if (text.length == 0) return NULL; /* may have no address */
  size_t start = 0;
  for (size_t end = 0; end <= text.length; end++) {
    if (end < text.length && text.text[end] != ',') continue;
    bertqa_text name = without_spaces((bertqa_text){text.text + start, end - start});
    start = end + 1;
    if (name.length == 0) continue;
    if (list->count == sizeof list->names / sizeof *list->names)
      return "more than 256 regions or labels";
    list->names[list->count++] = name;
  }
  return NULL;
}

#endif
