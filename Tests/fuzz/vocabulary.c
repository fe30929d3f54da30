/* A vocab.txt, or a tokenizer.json where it begins as one, and behind its first NUL a text for it. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *nul = size > 0 ? memchr(data, 0, size) : NULL;
  size_t length = nul != NULL ? (size_t)(nul - data) : size;
  int is_json = length > 0 && data[0] == '{';
  bertqa_file file = {is_json ? "tokenizer.json" : "vocab.txt", data, length};
  OPTIONS(context, options);
  options.tokenizer_only = BERTQA_ON;
  bertqa_context *context;
  if (!is_ok(bertqa_context_create_from_files(&file, 1, &options, &context))) return 0;
  size_t count = bertqa_context_info(context)->vocabulary_size;
  for (size_t id = 0; id < count && id < 64; id++) {
    size_t piece_length;
    const char *piece = bertqa_context_vocabulary_piece(context, (int32_t)id, &piece_length);
    REQUIRE(piece != NULL && piece[piece_length] == '\0');
    // A tokenizer.json may leave ids without a piece.
    if (is_json && piece_length == 0) continue;
    int32_t found = bertqa_context_vocabulary_id(context, piece, piece_length);
    REQUIRE(found >= 0 && (size_t)found < count);
  }
  if (nul != NULL) {
    bertqa_tokens *tokens;
    size_t text_length = size - length - 1;
    if (is_ok(bertqa_tokenize(context, (const char *)nul + 1, text_length, NULL, &tokens))) {
      require_tokens(context, tokens, text_length);
      bertqa_tokens_free(tokens);
    }
  }
  bertqa_context_free(context);
  return 0;
}
