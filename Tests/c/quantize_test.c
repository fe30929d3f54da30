/* Quantizing a model, and using what comes out. */
#include "check.h"
#include "structs.h"

static char directory[] = "/tmp/bertqa-quantize-XXXXXX";

static char *path(const char *name) {
  static char buffers[2][128];
  static int next;
  char *buffer = buffers[next++ % 2];
  snprintf(buffer, sizeof buffers[0], "%s/%s", directory, name);
  return buffer;
}

/* The bytes of a model's weights, with their header or without. */
static size_t weight_bytes(const char *directory, int with_header) {
  char name[4096];
  uint64_t header = 0;
  snprintf(name, sizeof name, "%s/model.safetensors", directory);
  FILE *file = fopen(name, "rb");
  CHECK(file != NULL && fread(&header, sizeof header, 1, file) == 1 && fseek(file, 0, SEEK_END) == 0);
  const size_t size = file == NULL ? 0 : (size_t)ftell(file);
  if (file != NULL) fclose(file);
  return with_header ? size : size - sizeof header - (size_t)header;
}

static void test_model(void) {
  bertqa_quantize_report report = BERTQA_QUANTIZE_REPORT_INIT;
  const bertqa_quantize_options options = {
      .struct_size = sizeof options, .use_no_answer_threshold = BERTQA_ON, .no_answer_threshold = -2.5f};
  CHECK_STATUS(BERTQA_OK, bertqa_quantize(tiny, path("int8"), &options, &report));
  CHECK(report.struct_size == sizeof report && report.tensor_count > 20 && report.quantized_count > 1000);
  CHECK(report.bytes_written < report.bytes_read);
  CHECK(report.bytes_read == weight_bytes(tiny, 0) && report.bytes_written == weight_bytes(path("int8"), 1));
  CHECK(report.rms_error > 0 && report.rms_error <= report.rms_error_of_largest);
  CHECK(report.rms_error_of_largest < report.rms_weight / 20 && report.rms_weight < 1);

  bertqa_context *context = context_of(path("int8"), 1);
  CHECK(bertqa_context_info(context)->precision == BERTQA_PRECISION_INT8);
  CHECK(bertqa_context_info(context)->no_answer_threshold == -2.5f);
  bertqa_answers *answers = tiny_answer(context, "who jumped?", "the quick brown fox jumped.");
  CHECK(bertqa_answers_count(answers) > 0);
  bertqa_answers_free(answers);
  bertqa_context_free(context);
}

static bertqa_status quantize_pointer(const bertqa_quantize_options *options, void **out) {
  char command[160];
  *out = NULL;
  bertqa_status status = bertqa_quantize(tiny, path("sizes"), options, NULL);
  snprintf(command, sizeof command, "rm -rf %s", path("sizes"));
  CHECK(system(command) == 0);
  return status;
}

static void nothing(void *out) { (void)out; }

static void test_refused(void) {
  const bertqa_status invalid = BERTQA_ERROR_INVALID_ARGUMENT;
  CHECK_STATUS(invalid, bertqa_quantize(NULL, path("x"), NULL, NULL));
  CHECK_STATUS(invalid, bertqa_quantize("", path("x"), NULL, NULL));
  CHECK(strcmp(bertqa_last_error_argument(), "directory") == 0);
  CHECK_STATUS(invalid, bertqa_quantize(tiny, NULL, NULL, NULL));
  CHECK_STATUS(invalid, bertqa_quantize(tiny, "\xff", NULL, NULL));
  CHECK_STATUS(invalid, bertqa_quantize(path("int8"), path("x"), NULL, NULL)); /* int8 already */
  CHECK_STATUS(invalid, bertqa_quantize(tiny, path("int8"), NULL, NULL));      /* not empty */
  CHECK_STATUS(BERTQA_ERROR_IO, bertqa_quantize("/nonexistent", path("x"), NULL, NULL));
  CHECK_STATUS(BERTQA_ERROR_IO, bertqa_quantize(tiny, path("no/such"), NULL, NULL));
  bertqa_quantize_options options = BERTQA_QUANTIZE_OPTIONS_INIT;
  options.no_answer_threshold = 1; /* without use_no_answer_threshold */
  CHECK_STATUS(invalid, bertqa_quantize(tiny, path("x"), &options, NULL));
  options.use_no_answer_threshold = BERTQA_ON;
  options.no_answer_threshold = NAN;
  CHECK_STATUS(invalid, bertqa_quantize(tiny, path("x"), &options, NULL));
  bertqa_quantize_report report = {.struct_size = 3};
  CHECK_STATUS(invalid, bertqa_quantize(tiny, path("x"), NULL, &report));
  CHECK(access(path("x"), F_OK) != 0); /* nothing was written */
  void *out;
  CHECK_STRUCT_SIZES(bertqa_quantize_options, use_no_answer_threshold, no_answer_threshold, out,
                     quantize_pointer(options, &out), nothing);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  if (mkdtemp(directory) == NULL) return 2;
  test_model();
  test_refused();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", directory);
  CHECK(system(command) == 0);
  return finish();
}
