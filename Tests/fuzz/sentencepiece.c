/* A SentencePiece model, and behind the number of its bytes, which comes first, a text for it. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"sentencepiece.bpe.model", "spiece.model", "spm.model"};
  input in = {data, size};
  const char *name = names[draw(&in) % 3];
  input model = draw_bytes(&in, 1 << 16);
  bertqa_file file = {name, model.data, model.size};
  OPTIONS(context, options);
  options.tokenizer_only = BERTQA_ON;
  bertqa_context *context;
  if (!is_ok(bertqa_context_create_from_files(&file, 1, &options, &context))) return 0;
  bertqa_tokens *tokens;
  if (is_ok(bertqa_tokenize(context, chars(in), in.size, NULL, &tokens))) {
    require_tokens(context, tokens, in.size);
    bertqa_tokens_free(tokens);
  }
  bertqa_context_free(context);
  return 0;
}
