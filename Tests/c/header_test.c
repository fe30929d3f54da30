/* The header as strict C99: constants, types of fixed size and every declaration. */
#include <bertqa.h>

#define SIZE_IS(type, size) typedef char type##_size[sizeof(type) == (size) ? 1 : -1]
SIZE_IS(bertqa_status, 4);
SIZE_IS(bertqa_precision, 4);
SIZE_IS(bertqa_isa, 4);
SIZE_IS(bertqa_range, 2 * sizeof(size_t));
SIZE_IS(bertqa_pair, 4 * sizeof(size_t));

#if BERTQA_VERSION_MAJOR < 0 || BERTQA_VERSION_MINOR < 0 || BERTQA_VERSION_PATCH < 0
#error "versions are numbers that the preprocessor can compare"
#endif

int main(void) {
  bertqa_status status = BERTQA_ERROR_INTERNAL;
  bertqa_context_options options = {0};
  bertqa_answer_options answer_options = {0};
  bertqa_tokenize_options tokenize_options = {0};
  bertqa_context_options_init(&options, sizeof options);
  bertqa_answer_options_init(&answer_options, sizeof answer_options);
  bertqa_tokenize_options_init(&tokenize_options, sizeof tokenize_options);
  return bertqa_abi_version() == BERTQA_ABI_VERSION && status == 9 && options.threads == 0 &&
                 answer_options.top_k == 1 && tokenize_options.parse_special_tokens == 0
             ? 0
             : 1;
}
