/* What bertqa.h gained after the ABI was frozen, up to version 0.1.0: entities.
 * usage: client FIXTURES OUTPUT_DIRECTORY */
#include "../client.h"

static void check_list(const bertqa_entity_list *list, size_t length, const char *label) {
  KNOWN(bertqa_entity_list_summary(list));
  CHECK(bertqa_entity_list_summary(list)->window_count == 1);
  NEED(bertqa_entity_list_count(list) > 0);
  for (size_t i = 0; i < bertqa_entity_list_count(list); i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(list, i);
    KNOWN(entity);
    CHECK(strlen(entity->label) == entity->label_length && (label == NULL || strcmp(entity->label, label) == 0));
    CHECK(entity->bytes.start < entity->bytes.end && entity->bytes.end <= length);
    CHECK(entity->code_points.end <= entity->bytes.end && entity->utf16.end <= entity->bytes.end);
    CHECK(entity->score > 0 && entity->score <= 1 && entity->reserved == 0);
  }
  CHECK(bertqa_entity_list_get(list, bertqa_entity_list_count(list)) == NULL);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  bertqa_context *context = context_of(arguments[1], "tiny-bert-entities");
  CHECK(bertqa_context_info(context)->task == BERTQA_TASK_ENTITIES);
  CHECK(bertqa_context_info(context)->label_count > 1);
  const char text[] = "the king of france jumped over the river in paris";
  bertqa_entities_options options;
  bertqa_entities_options_init(&options, sizeof options);
  options.aggregation = BERTQA_AGGREGATION_NONE;
  options.ignore_labels = (const bertqa_text *)&checks; /* with a count of 0: none is left out */
  options.threshold = 0.001f;
  options.max_seq_len = 64;
  options.doc_stride = 8;
  bertqa_entity_list *list = NULL;
  NEED(bertqa_entities(context, text, strlen(text), &options, &list) == BERTQA_OK);
  check_list(list, strlen(text), NULL);
  /* One of the labels that were found, alone. */
  char label[256];
  snprintf(label, sizeof label, "%s", bertqa_entity_list_get(list, 0)->label);
  bertqa_entity_list_free(list);
  const bertqa_text labels[1] = {{label, strlen(label)}};
  options.labels = labels;
  options.label_count = 1;
  const bertqa_text texts[2] = {{text, sizeof text - 1}, {"", 0}};
  bertqa_entity_list *lists[2];
  bertqa_status statuses[2] = {-1, -1};
  NEED(bertqa_entities_batch(context, texts, 2, &options, lists, statuses) == BERTQA_OK);
  CHECK(statuses[0] == BERTQA_OK && statuses[1] == BERTQA_OK);
  check_list(lists[0], strlen(text), label);
  CHECK(bertqa_entity_list_count(lists[1]) == 0);
  bertqa_entity_list_free(lists[0]);
  bertqa_entity_list_free(lists[1]);
  bertqa_context_free(context);
  return finish();
}
