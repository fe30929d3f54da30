"""Tables of numbers as literals of Swift, which VariableLengthReader reads. For the generators beside this file."""


def encode(numbers):
    """Encodes five bits per character from "0", least significant first; 32 is added if more follow."""
    out = []
    for n in numbers:
        while n >= 32:
            out.append(chr(48 + 32 + (n & 31)))
            n >>= 5
        out.append(chr(48 + n))
    return "".join(out)


def literal(name, comment, numbers):
    text = encode(numbers)
    lines = [text[i : i + 104] for i in range(0, len(text), 104)]
    body = "\n".join("    " + line for line in lines)
    return f'  /// {comment}\n  static let {name}: StaticString = #"""\n{body}\n    """#\n'
