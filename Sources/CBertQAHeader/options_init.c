/* The functions that set the options structs of the ABI to their defaults: struct_size, and 0 for all other
 * members. They use no Swift, so that a child of fork() can call them at any time. */

#include <string.h>

#include "../../include/bertqa_experimental.h"

/* No options struct is larger; a larger struct_size is an uninitialised one. */
#define MAX_SIZE 4096

static void set_defaults(void *options, size_t size) {
  if (options == NULL || size < sizeof size || size > MAX_SIZE) return;
  memset(options, 0, size);
  memcpy(options, &size, sizeof size);
}

#define OPTIONS_INIT(name)                                                                  \
  void bertqa_##name##_options_init(bertqa_##name##_options *options, size_t struct_size) { \
    set_defaults(options, struct_size);                                                     \
  }

OPTIONS_INIT(answer)
OPTIONS_INIT(call)
OPTIONS_INIT(classify)
OPTIONS_INIT(context)
OPTIONS_INIT(document)
OPTIONS_INIT(embed)
OPTIONS_INIT(entities)
OPTIONS_INIT(generate)
OPTIONS_INIT(labeler)
OPTIONS_INIT(logits)
OPTIONS_INIT(patterns)
OPTIONS_INIT(quantize)
OPTIONS_INIT(redact)
OPTIONS_INIT(sequence)
OPTIONS_INIT(tokenize)
OPTIONS_INIT(train)
OPTIONS_INIT(word_counts)
