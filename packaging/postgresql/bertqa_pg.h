/* What the files of the extension share. Calls of the library never jump out of it: its callbacks only
 * read flags, and errors are raised after it has returned. */
#ifndef BERTQA_PG_H
#define BERTQA_PG_H

#include <postgres.h>

#include <bertqa.h>
#include <fmgr.h>

/* Options for a call that a cancelled query, a statement_timeout or a backend's end stops. */
extern const bertqa_call_options interruptible;

/* The model that this session uses for a task; loads it when it is first asked for, or when the setting
 * has changed. Raises an error where that fails. */
const bertqa_context *session_model(bertqa_task task);

/* Raises the error of a call that has failed. */
void raise_status(bertqa_status status) __attribute__((noreturn));

/* A text argument in UTF-8: it lives as long as the memory context that is current. */
bertqa_text utf8_argument(FunctionCallInfo fcinfo, int index);

/* A text of the server's encoding, from UTF-8. */
Datum server_text(const char *text, size_t length);

/* Settings are made known to the server. */
void define_settings(void);

#endif
