#include "bertqa_pg.h"

#include <catalog/namespace.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/builtins.h>

#if PG_VERSION_NUM < 150000
#error "the extension needs PostgreSQL 15 or later"
#elif PG_VERSION_NUM >= 160000
#include <varatt.h>
#endif

PG_MODULE_MAGIC;

void _PG_init(void);

/* The server's libpq/libpq.h, which needs the headers of Kerberos. */
extern bool pq_check_connection(void);

void _PG_init(void) { define_settings(); }

/* The error of an interrupt during a call, until the call has returned: it must not jump over the library's frames. */
static ErrorData *interrupt_error;

/* Does what signals ask for, such as a part in another session's DROP DATABASE. The end of the statement or the process
 * waits until the library has returned: it frees the texts, which other threads may read. */
static int32_t is_cancelled(void *user) {
  if (!InterruptPending) return 0;
  if (QueryCancelPending || ProcDiePending) return 1;
#if PG_VERSION_NUM >= 170000
  if (TransactionTimeoutPending) return 1;
#endif
  volatile int32_t is_stopped = 0;
  const MemoryContext before = CurrentMemoryContext;
  PG_TRY();
  {
    if (CheckClientConnectionPending && !pq_check_connection()) {
      is_stopped = 1;
    } else {
      CHECK_FOR_INTERRUPTS();
    }
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(before);
    interrupt_error = CopyErrorData();
    FlushErrorState();
    is_stopped = 1;
  }
  PG_END_TRY();
  return is_stopped;
}

const bertqa_call_options interruptible = {.struct_size = sizeof interruptible,
                                           .cancel = is_cancelled};

static int sql_state(bertqa_status status) {
  switch (status) {
    case BERTQA_ERROR_INVALID_ARGUMENT: return ERRCODE_INVALID_PARAMETER_VALUE;
    case BERTQA_ERROR_IO: return ERRCODE_IO_ERROR;
    case BERTQA_ERROR_INVALID_MODEL: return ERRCODE_DATA_CORRUPTED;
    case BERTQA_ERROR_UNSUPPORTED: return ERRCODE_FEATURE_NOT_SUPPORTED;
    case BERTQA_ERROR_WRONG_MODEL: return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    case BERTQA_ERROR_OUT_OF_MEMORY: return ERRCODE_OUT_OF_MEMORY;
    case BERTQA_ERROR_CANCELLED: return ERRCODE_QUERY_CANCELED;
    case BERTQA_ERROR_TOO_LARGE: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    default: return ERRCODE_INTERNAL_ERROR;
  }
}

void check_status(bertqa_status status) {
  ErrorData *error = interrupt_error;
  interrupt_error = NULL;
  if (error != NULL) ReThrowError(error);
  if (status == BERTQA_OK) return;
  /* Raises its own message: cancelled by the user or by statement_timeout, or the backend ends. */
  if (status == BERTQA_ERROR_CANCELLED) CHECK_FOR_INTERRUPTS();
  const char *message = bertqa_last_error();
  ereport(ERROR, errcode(sql_state(status)),
          errmsg("%s", TextDatumGetCString(model_text(message, strlen(message)))));
}

bertqa_text utf8_argument(FunctionCallInfo fcinfo, int index) {
  text *argument = PG_GETARG_TEXT_PP(index);
  const char *bytes = VARDATA_ANY(argument);
  size_t length = VARSIZE_ANY_EXHDR(argument);
  const char *converted = pg_server_to_any(bytes, length, PG_UTF8);
  if (converted != bytes) length = strlen(converted);
  return (bertqa_text){converted, length};
}

Datum server_text(const char *bytes, size_t length) {
  const char *converted = pg_any_to_server(bytes, length, PG_UTF8);
  if (converted != bytes) length = strlen(converted);
  return PointerGetDatum(cstring_to_text_with_len(converted, length));
}

Datum model_text(const char *bytes, size_t length) {
  const int encoding = GetDatabaseEncoding();
  const Oid conversion = FindDefaultConversionProc(PG_UTF8, encoding);
  if (!OidIsValid(conversion)) return server_text(bytes, length); /* UTF-8 itself, or SQL_ASCII */
  const size_t size = MAX_CONVERSION_GROWTH * length + 1;
  char *converted = palloc(size), *end = converted;
  *end = '\0';
  for (const char *rest = bytes; rest < bytes + length;) {
    rest += pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding, (unsigned char *)rest,
                                          (int)(bytes + length - rest), (unsigned char *)end,
                                          (int)(converted + size - end), true);
    end += strlen(end);
    if (rest == bytes + length) break;
    *end++ = '?';
    rest += pg_encoding_mblen(PG_UTF8, rest);
  }
  return PointerGetDatum(cstring_to_text_with_len(converted, end - converted));
}

bertqa_text copied(bertqa_text text) {
  char *copy = MemoryContextAllocHuge(CurrentMemoryContext, text.length + 1);
  if (text.length > 0) memcpy(copy, text.text, text.length);
  return (bertqa_text){copy, text.length};
}

bool is_same(bertqa_text a, bertqa_text b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}
