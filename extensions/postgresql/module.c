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

void _PG_init(void) { define_settings(); }

/* Reads flags that signal handlers set. They are acted upon after the library has returned. */
static int32_t is_cancelled(void *user) {
#if PG_VERSION_NUM >= 170000
  if (TransactionTimeoutPending) return 1;
#endif
  return InterruptPending && (QueryCancelPending || ProcDiePending);
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

/* Converts a message. Characters that the server's encoding lacks become question marks: an error of the conversion
 * would take the message's place. */
static const char *server_message(const char *message) {
  const int encoding = GetDatabaseEncoding();
  const Oid conversion = FindDefaultConversionProc(PG_UTF8, encoding);
  if (!OidIsValid(conversion)) return message; /* UTF-8 itself, or SQL_ASCII */
  const size_t size = MAX_CONVERSION_GROWTH * strlen(message) + 1;
  char *converted = palloc(size), *end = converted;
  for (const char *rest = message; *rest != '\0';) {
    rest += pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding, (unsigned char *)rest,
                                          (int)strlen(rest), (unsigned char *)end,
                                          (int)(converted + size - end), true);
    end += strlen(end);
    if (*rest == '\0') break;
    *end++ = '?';
    rest += pg_encoding_mblen(PG_UTF8, rest);
  }
  *end = '\0';
  return converted;
}

void raise_status(bertqa_status status) {
  /* Raises its own message: cancelled by the user or by statement_timeout, or the backend ends. */
  if (status == BERTQA_ERROR_CANCELLED) CHECK_FOR_INTERRUPTS();
  ereport(ERROR, errcode(sql_state(status)), errmsg("%s", server_message(bertqa_last_error())));
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
