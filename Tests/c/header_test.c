/* Both headers as strict C99: constants, types of fixed size, initialisers and every declaration. */
#include <bertqa_experimental.h>
#include <string.h>

#define SIZE_IS(type, size) typedef char type##_size[sizeof(type) == (size) ? 1 : -1]
SIZE_IS(bertqa_status, 4);
SIZE_IS(bertqa_precision, 4);
SIZE_IS(bertqa_isa, 4);
SIZE_IS(bertqa_switch, 4);
SIZE_IS(bertqa_range, 2 * sizeof(size_t));
SIZE_IS(bertqa_text, 2 * sizeof(size_t));
SIZE_IS(bertqa_answer_pair, 4 * sizeof(size_t));
SIZE_IS(bertqa_text_pair, 4 * sizeof(size_t));
SIZE_IS(bertqa_file, 3 * sizeof(size_t));

#if BERTQA_VERSION_MAJOR < 0 || BERTQA_VERSION_MINOR < 0 || BERTQA_VERSION_PATCH < 0
#error "versions are numbers that the preprocessor can compare"
#endif

/* True if the initialiser and the function agree: struct_size, and 0 for everything else. */
static int is_default(const void *options, size_t size) {
  const unsigned char *bytes = options;
  size_t stated;
  memcpy(&stated, options, sizeof stated);
  for (size_t i = sizeof stated; i < size; i++)
    if (bytes[i] != 0) return 0;
  return stated == size;
}

#define CHECK_DEFAULTS(type, INIT)                                              \
  do {                                                                          \
    static const type constant = INIT;                                          \
    type written;                                                               \
    memset(&written, 0xff, sizeof written);                                     \
    type##_init(&written, sizeof written);                                      \
    if (!is_default(&constant, sizeof constant) || !is_default(&written, sizeof written)) return 1; \
  } while (0)

int main(void) {
  CHECK_DEFAULTS(bertqa_call_options, BERTQA_CALL_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_context_options, BERTQA_CONTEXT_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_tokenize_options, BERTQA_TOKENIZE_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_answer_options, BERTQA_ANSWER_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_document_options, BERTQA_DOCUMENT_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_logits_options, BERTQA_LOGITS_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_classify_options, BERTQA_CLASSIFY_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_entities_options, BERTQA_ENTITIES_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_patterns_options, BERTQA_PATTERNS_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_redact_options, BERTQA_REDACT_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_word_counts_options, BERTQA_WORD_COUNTS_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_embed_options, BERTQA_EMBED_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_quantize_options, BERTQA_QUANTIZE_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_train_options, BERTQA_TRAIN_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_labeler_options, BERTQA_LABELER_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_sequence_options, BERTQA_SEQUENCE_OPTIONS_INIT);
  CHECK_DEFAULTS(bertqa_generate_options, BERTQA_GENERATE_OPTIONS_INIT);
  const bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  const bertqa_quantize_report report = BERTQA_QUANTIZE_REPORT_INIT;
  if (!is_default(&score, sizeof score) || !is_default(&report, sizeof report)) return 1;
  const bertqa_status status = BERTQA_ERROR_DEADLINE_EXCEEDED;
  return bertqa_abi_version() == BERTQA_ABI_VERSION && status == 10 ? 0 : 1;
}
