/* The models of a session: the settings that select them, and bertqa_model, which changes them. */
#include "bertqa_pg.h"

#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/builtins.h>
#include <utils/guc.h>

/* A backend is one process with one thread; its models live as long as it does. */
typedef struct session_model_slot {
  char *setting; /* the requested path; "": the default model */
  char *path;    /* the loaded path; malloc'ed */
  int threads;   /* the number that it was loaded for */
  bertqa_context *context;
} session_model_slot;

uint64 loaded_models;

static session_model_slot slots[BERTQA_TASK_ENTITIES + 1]; /* by task */

/* PostgreSQL's own means to use more cores are parallel workers, which it plans. */
static int thread_setting = 1;

/* Indexed by task; NULL for tasks without functions here. */
static const char *const setting_names[] = {
    [BERTQA_TASK_ANSWER] = "bertqa.answer_model",
    [BERTQA_TASK_CLASSIFY] = "bertqa.classify_model",
    [BERTQA_TASK_EMBED] = "bertqa.embed_model",
    [BERTQA_TASK_ENTITIES] = "bertqa.entities_model",
};

void define_settings(void) {
  /* A path is read with the server's rights: only superusers, and roles that they allow, can set
   * it. */
  for (bertqa_task task = BERTQA_TASK_ANSWER; task < lengthof(setting_names); task++) {
    if (setting_names[task] == NULL) continue;
    DefineCustomStringVariable(setting_names[task], "Directory of the model.",
                               "Empty for the default model.", &slots[task].setting, "", PGC_SUSET,
                               0, NULL, NULL, NULL);
  }
  DefineCustomIntVariable("bertqa.threads", "Threads that one call may use in this session.", NULL,
                          &thread_setting, 1, 1, 1024, PGC_SUSET, 0, NULL, NULL, NULL);
  MarkGUCPrefixReserved("bertqa");
}

/* Loads a model for this task or raises an error. */
static bertqa_context *load(bertqa_task task, const char *path) {
  bertqa_context_options options = {.struct_size = sizeof options,
                                    .call = &interruptible,
                                    .threads = thread_setting,
                                    .default_model = task};
  const char *directory = path[0] == '\0' ? NULL : pg_server_to_any(path, strlen(path), PG_UTF8);
  bertqa_context *context;
  check_status(bertqa_context_create(directory, &options, &context));
  if (bertqa_context_info(context)->task != task) {
    bertqa_context_free(context);
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("'%s' is not the task of the model in %s", bertqa_task_name(task),
                   path[0] == '\0' ? "BERTQA_MODEL" : path));
  }
  return context;
}

const bertqa_context *session_model(bertqa_task task) {
  session_model_slot *slot = &slots[task];
  const char *wanted = slot->setting == NULL ? "" : slot->setting;
  if (slot->context != NULL && slot->threads == thread_setting && strcmp(slot->path, wanted) == 0) {
    return slot->context;
  }
  bertqa_context *context = load(task, wanted);
  char *path = strdup(wanted);
  if (path == NULL) {
    bertqa_context_free(context);
    ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"));
  }
  bertqa_context_free(slot->context);
  free(slot->path);
  slot->context = context;
  slot->path = path;
  slot->threads = thread_setting;
  loaded_models++;
  return context;
}

PG_FUNCTION_INFO_V1(bertqa_pg_model);
Datum bertqa_pg_model(PG_FUNCTION_ARGS) {
  const char *name = PG_ARGISNULL(0) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(0));
  const char *path = PG_ARGISNULL(1) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(1));
  bertqa_task task = lengthof(setting_names) - 1;
  while (task > 0 && strcmp(name, bertqa_task_name(task)) != 0) task--;
  if (setting_names[task] == NULL) {
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("bertqa_model(task, path): the task is 'answer', 'classify', 'embed' or"
                   " 'entities'"));
  }
  /* Checks the right to set it before anything is read. If the model fails, the transaction's
   * rollback undoes the setting. */
  SetConfigOption(setting_names[task], path, superuser() ? PGC_SUSET : PGC_USERSET, PGC_S_SESSION);
  const char *directory = bertqa_context_info(session_model(task))->directory;
  PG_RETURN_DATUM(model_text(directory, strlen(directory)));
}
