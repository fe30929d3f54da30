/* The loaded models of the process, shared by its connections. */
#ifndef BERTQA_SQLITE_CONTEXTS_H
#define BERTQA_SQLITE_CONTEXTS_H

#include <bertqa.h>

typedef struct loaded_model loaded_model;

/* Returns the model at this path (NULL: the task's default one), and loads it if necessary, with the call's options. It
 * stays loaded until it is released. On failure bertqa_last_error() has the message. */
bertqa_status loaded_model_acquire(bertqa_task task, const char *path,
                                   const bertqa_call_options *call, loaded_model **model);

/* Releases a model; NULL does nothing. Up to a limit, unused models stay loaded for later
 * connections. */
void loaded_model_release(loaded_model *model);

const bertqa_context *loaded_model_context(const loaded_model *model);

#endif
