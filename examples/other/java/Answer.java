import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import com.sun.jna.ptr.PointerByReference;
import java.nio.charset.StandardCharsets;

/** Answers a question about a text and prints the answer's position in UTF-16 units, as Java indexes a String. */
public class Answer {
  /** The functions of bertqa.h that this program uses. size_t is a long, as supported systems are 64-bit. */
  public interface BertQA extends Library {
    BertQA LIBRARY = Native.load("bertqa", BertQA.class);

    int bertqa_context_create(String modelDirectory, Pointer options, PointerByReference context);

    void bertqa_context_free(Pointer context);

    int bertqa_answer(Pointer context, byte[] question, long questionLength, byte[] document,
        long documentLength, Pointer options, PointerByReference answers);

    Span bertqa_answers_get(Pointer answers, long index);

    void bertqa_answers_free(Pointer answers);

    Pointer bertqa_last_error();
  }

  @FieldOrder({"start", "end"})
  public static class Range extends Structure {
    public long start;
    public long end;
  }

  /** The first fields of bertqa_answer_span. The library returns it by pointer and may add fields at the end. */
  @FieldOrder({"struct_size", "bytes", "code_points", "utf16"})
  public static class Span extends Structure {
    public long struct_size;
    public Range bytes;
    public Range code_points;
    public Range utf16;
  }

  /** A loaded model. Any number of threads can use it concurrently, but none when it is closed. */
  static final class Context implements AutoCloseable {
    private final Pointer handle;

    Context() {
      PointerByReference created = new PointerByReference();
      check(BertQA.LIBRARY.bertqa_context_create(null, null, created));
      handle = created.getValue();
    }

    /** Returns the range of the best answer in the document, or null. */
    Range answer(String question, String document) {
      byte[] q = question.getBytes(StandardCharsets.UTF_8);
      byte[] d = document.getBytes(StandardCharsets.UTF_8);
      PointerByReference answers = new PointerByReference();
      check(BertQA.LIBRARY.bertqa_answer(handle, q, q.length, d, d.length, null, answers));
      try {
        Span best = BertQA.LIBRARY.bertqa_answers_get(answers.getValue(), 0);
        return best == null ? null : best.utf16; // a copy, which outlives the answers
      } finally {
        BertQA.LIBRARY.bertqa_answers_free(answers.getValue());
      }
    }

    @Override
    public void close() {
      BertQA.LIBRARY.bertqa_context_free(handle);
    }

    /** Throws on failure. The error message is this thread's last, so call it before the next call. */
    private static void check(int status) {
      if (status != 0) {
        throw new IllegalStateException(BertQA.LIBRARY.bertqa_last_error().getString(0, "UTF-8"));
      }
    }
  }

  public static void main(String[] arguments) {
    if (arguments.length != 2) {
      System.err.println("usage: Answer QUESTION TEXT");
      System.exit(2);
    }
    try (Context context = new Context()) {
      Range range = context.answer(arguments[0], arguments[1]);
      if (range == null) {
        System.out.println("there is nothing to answer from");
        return;
      }
      String answer = arguments[1].substring((int) range.start, (int) range.end);
      System.out.println(range.start + " " + range.end + " " + answer);
    }
  }
}
