/* Declarations that the extension's files share. Errors never jump out of a library call: they are raised after the
 * call has returned. */
#ifndef BERTQA_PG_H
#define BERTQA_PG_H

#include <postgres.h>

#include <bertqa.h>
#include <fmgr.h>

/* Options for calls that stop when the query is cancelled, statement_timeout passes, the client is gone, or the backend
 * ends. Then check_status must follow. */
extern const bertqa_call_options interruptible;

/* Returns the session's model for a task. Loads it on first use and when the setting has
 * changed. Raises an error on failure. */
const bertqa_context *session_model(bertqa_task task);

/* The number of models that this session has loaded. */
extern uint64 loaded_models;

/* Raises the error of a failed call. */
void check_status(bertqa_status status);

/* Returns a text argument in UTF-8, allocated in the current memory context. */
bertqa_text utf8_argument(FunctionCallInfo fcinfo, int index);

/* Converts a UTF-8 text to the server's encoding. */
Datum server_text(const char *text, size_t length);

/* The same for a text of the library or a model; characters that the encoding lacks become question marks. */
Datum model_text(const char *text, size_t length);

/* Copies a text into the current memory context. */
bertqa_text copied(bertqa_text text);

bool is_same(bertqa_text a, bertqa_text b);

/* Registers the settings with the server. */
void define_settings(void);

#endif
