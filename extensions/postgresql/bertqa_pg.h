/* Declarations that the extension's files share. Errors never jump out of a library call:
 * callbacks only read flags, and errors are raised after the call has returned. */
#ifndef BERTQA_PG_H
#define BERTQA_PG_H

#include <postgres.h>

#include <bertqa.h>
#include <fmgr.h>

/* Options for calls that stop when the query is cancelled, statement_timeout passes, or the
 * backend ends. */
extern const bertqa_call_options interruptible;

/* Returns the session's model for a task. Loads it on first use and when the setting has
 * changed. Raises an error on failure. */
const bertqa_context *session_model(bertqa_task task);

/* Raises the error of a failed call. */
void raise_status(bertqa_status status) __attribute__((noreturn));

/* Returns a text argument in UTF-8, allocated in the current memory context. */
bertqa_text utf8_argument(FunctionCallInfo fcinfo, int index);

/* Converts a UTF-8 text to the server's encoding. */
Datum server_text(const char *text, size_t length);

/* Registers the settings with the server. */
void define_settings(void);

#endif
