#include "contexts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The number of unused models that are kept. A program that opens a connection for each request
 * loads a model once, and one that uses many models keeps only a few. */
#define IDLE_MODELS 8

struct loaded_model {
  loaded_model *next;
  char *path; /* absolute, or the name of an installed model; NULL: the task's default model */
  bertqa_task task;
  bertqa_context *context;
  size_t users;
};

/* Protects the list only. It is not held while a model is loaded, so other connections can
 * proceed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loaded_model *models; /* the last acquired first */

static void discard(loaded_model *model) {
  bertqa_context_free(model->context);
  free(model->path);
  free(model);
}

/* Removes all but `kept` idle models from the list, the least recently acquired first. */
static loaded_model *take_idle(size_t kept) {
  loaded_model *taken = NULL;
  size_t idle = 0;
  for (loaded_model **link = &models; *link != NULL;) {
    loaded_model *model = *link;
    if (model->users > 0 || idle++ < kept) {
      link = &model->next;
    } else {
      *link = model->next;
      model->next = taken;
      taken = model;
    }
  }
  return taken;
}

static void discard_all(loaded_model *list) {
  while (list != NULL) {
    loaded_model *next = list->next;
    discard(list);
    list = next;
  }
}

/* Runs when the process exits. A thread that is still in a call keeps its model. */
__attribute__((destructor)) static void discard_at_exit(void) {
  pthread_mutex_lock(&lock);
  loaded_model *idle = take_idle(0);
  pthread_mutex_unlock(&lock);
  discard_all(idle);
}

/* Finds a model, moves it to the head of the list and counts one more user; NULL if it is not
 * listed. */
static loaded_model *find(bertqa_task task, const char *path) {
  for (loaded_model **link = &models; *link != NULL; link = &(*link)->next) {
    loaded_model *model = *link;
    int is_same =
        (path == NULL) == (model->path == NULL) && (path == NULL || strcmp(path, model->path) == 0);
    if (model->task == task && is_same) {
      *link = model->next;
      model->next = models;
      models = model;
      model->users++;
      return model;
    }
  }
  return NULL;
}

bertqa_status loaded_model_acquire(bertqa_task task, const char *path,
                                   const bertqa_call_options *call, loaded_model **model) {
  char *absolute = NULL;
  if (path != NULL) {
    absolute = realpath(path, NULL);
    /* A path that does not exist may be the name of an installed model; else the library reports it. */
    if (absolute == NULL) absolute = strdup(path);
    if (absolute == NULL) return BERTQA_ERROR_OUT_OF_MEMORY;
  }
  pthread_mutex_lock(&lock);
  *model = find(task, absolute);
  pthread_mutex_unlock(&lock);
  if (*model != NULL) {
    free(absolute);
    return BERTQA_OK;
  }

  bertqa_context_options options = {
      .struct_size = sizeof options, .call = call, .default_model = task};
  bertqa_context *context;
  bertqa_status status = bertqa_context_create(absolute, &options, &context);
  if (status != BERTQA_OK) {
    free(absolute);
    return status;
  }
  loaded_model *loaded = malloc(sizeof *loaded);
  if (loaded == NULL) {
    bertqa_context_free(context);
    free(absolute);
    return BERTQA_ERROR_OUT_OF_MEMORY;
  }
  *loaded = (loaded_model){.path = absolute, .task = task, .context = context, .users = 1};

  pthread_mutex_lock(&lock);
  *model = find(task, absolute); /* another thread may have been faster */
  if (*model == NULL) {
    loaded->next = models;
    models = *model = loaded;
    loaded = NULL;
  }
  pthread_mutex_unlock(&lock);
  if (loaded != NULL) discard(loaded);
  return BERTQA_OK;
}

void loaded_model_release(loaded_model *model) {
  if (model == NULL) return;
  pthread_mutex_lock(&lock);
  model->users--;
  loaded_model *idle = take_idle(IDLE_MODELS);
  pthread_mutex_unlock(&lock);
  discard_all(idle);
}

const bertqa_context *loaded_model_context(const loaded_model *model) { return model->context; }
