/* The loaded models of the process, shared by its connections. */
#ifndef BERTQA_SQLITE_CONTEXTS_H
#define BERTQA_SQLITE_CONTEXTS_H

#include <bertqa.h>

typedef struct loaded_model loaded_model;

/* Gives the model at this path, NULL for the task's default one; loads it unless it is there already.
 * What it gives stays until it is released. On failure bertqa_last_error() says what was wrong. */
bertqa_status loaded_model_acquire(bertqa_task task, const char *path, loaded_model **model);

/* NULL does nothing. A model that nobody uses stays for the next connection, up to some number. */
void loaded_model_release(loaded_model *model);

const bertqa_context *loaded_model_context(const loaded_model *model);

#endif
