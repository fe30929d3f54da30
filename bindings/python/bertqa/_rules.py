"""The caller's rules for personal data: regular expressions with check digits and preceding words."""

import collections
import ctypes
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Pattern, Tuple

from . import _abi
from ._call import Call
from ._entities import entity_list
from ._errors import InvalidArgument
from ._handle import Results
from ._native import check, library
from ._results import EntityList
from ._text import as_text, byte_offsets, encoded
from ._value import T

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CallOptions

_MEMBERS = ("name", "expression", "checksum", "context")
#: The number of characters before a match, on the same line, that are searched for words.
_REACH = 64


def checksum(name: str, text: str) -> bool:
    """True if the check digits of a number or code are right. Spaces, hyphens and other marks are ignored.

    name: "luhn"; "mod97" (ISO 7064, the check digits at the end); "verhoeff"; or a kind of personal data with check
        digits, such as "iban" or "uk_nhs".
    """
    result = ctypes.c_int32()
    name_data, data = encoded(name, "name"), encoded(text)
    check(library().checksum(name_data, len(name_data), data, len(data), ctypes.byref(result)))
    return bool(result.value)


@dataclass(frozen=True)
class _Rule:
    name: str
    expression: "Pattern[str]"
    checksum: Optional[str]
    context: "Optional[Pattern[str]]"


class Rules:
    """Rules that find matches of expressions, as `bertqa entities --rules` does.

    rules: a dict for each:
        name: the label of its matches.
        expression: a regular expression of `re`, without a limit of steps: some expressions never end with some texts.
            The tool's expressions, those of PCRE2, have limits.
        checksum: the name of a check that a match must pass, as in `checksum`; default: none.
        context: words, one of which must occur in the 64 characters before a match, on the same line, in any case;
            default: none.
    """

    def __init__(self, rules: "Iterable[Mapping[str, Any]]"):
        self._rules = [_rule(f"rule {number}", rule) for number, rule in enumerate(rules, 1)]

    @classmethod
    def load(cls, path: Any) -> "Rules":
        """Reads a file like those of the tool's --rules: {"rules": [{"name": …, "expression": …}]}."""
        with open(path, encoding="utf-8") as file:
            try:
                content = json.load(file, object_pairs_hook=_once)
            except json.JSONDecodeError as error:
                raise InvalidArgument(f"{path}: line {error.lineno}, column {error.colno}: {error.msg}") from None
            except (
                ValueError,
                RecursionError,
            ) as error:  # no UTF-8, a member twice, or too long or deep for Python
                raise InvalidArgument(f"{path}: {error}") from None
        if not isinstance(content, dict) or list(content) != ["rules"] or not isinstance(content["rules"], list):
            raise InvalidArgument(f'{path}: expected an object with one member, the array "rules"')
        try:
            return cls(content["rules"])
        except InvalidArgument as error:
            raise InvalidArgument(f"{path}: {error}") from None

    def __len__(self) -> int:
        return len(self._rules)

    def entities(self, text: T, **options: "Unpack[CallOptions]") -> EntityList[T]:
        """Returns the matches of the rules, in the order of the text. They may overlap.

        options: see help(bertqa.CallOptions).
        """
        text = as_text(text)
        data = encoded(text)
        # Surrogates stand for invalid bytes and keep the offsets right.
        string = text if isinstance(text, str) else data.decode("utf-8", "surrogateescape")
        matches = [(rule, match, word) for rule in self._rules for match, word in _matches(rule, string)]
        places = {place for _, match, word in matches for place in (*match.span(), *(word or ()))}
        errors = "surrogateescape" if isinstance(text, bytes) else "replace"
        offsets = byte_offsets(string, places, lambda part: part.encode("utf-8", errors))
        ranges = (_abi.LabelledRange * len(matches))()
        why: Dict[Any, Any] = collections.defaultdict(list)
        for entry, (rule, match, word) in zip(ranges, matches):
            label = rule.name.encode()
            entry.bytes.start, entry.bytes.end = offsets[match.start()], offsets[match.end()]
            entry.label, entry.label_length, entry.score = label, len(label), 1
            context = None if word is None else data[offsets[word[0]] : offsets[word[1]]]
            # Two rules may have one name.
            why[entry.bytes.start, entry.bytes.end, rule.name].append((rule.checksum, context))
        call, lib = Call(options), library()
        with Results(1, lib.entity_list_free) as results:
            call.check(lib.entity_list_create(data, len(data), ranges, len(ranges), call.common_pointer, results))
            found = entity_list(results[0], text)

        def explained(entity: Any) -> Any:
            name, word = why[(*entity.byte_range, entity.label)].pop(0)
            context = word if word is None or isinstance(text, bytes) else word.decode()
            return replace(entity, rule=entity.label, checksum=name, context=context)

        return replace(found, entities=[explained(entity) for entity in found])


def _once(pairs: "List[Tuple[str, Any]]") -> Dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise InvalidArgument(f"a member occurs twice among {', '.join(name for name, _ in pairs)}")
    return content


def _rule(shown: str, rule: "Mapping[str, Any]") -> _Rule:
    if not isinstance(rule, Mapping):
        raise InvalidArgument(f"{shown} is {rule!r}, but must be a dict")
    for member in rule:
        if member not in _MEMBERS:
            raise InvalidArgument(f"{shown} has the unknown member {member!r}; it may have {', '.join(_MEMBERS)}")
    name, expression, check_name, context = (rule.get(member) for member in _MEMBERS)
    if (
        not isinstance(name, str)
        or not re.fullmatch(r"[^\x00-\x1f\x7f\[\]\ud800-\udfff]+", name)
        or len(name.encode()) > 64
    ):
        raise InvalidArgument(
            f"{shown} needs a name of 1 to 64 bytes in UTF-8 without brackets and control characters"
        )
    if not isinstance(expression, str) or not expression:
        raise InvalidArgument(f"{shown} needs an expression")
    try:
        compiled = re.compile(expression)
    except re.error as error:
        place = "" if error.colno is None else f" at line {error.lineno}, column {error.colno}"
        raise InvalidArgument(f"{shown}: the expression: {error.msg}{place}") from None
    except (OverflowError, RecursionError) as error:
        raise InvalidArgument(f"{shown}: the expression: {error}") from None
    if check_name is not None:
        if not isinstance(check_name, str):
            raise InvalidArgument(f'{shown}: "checksum" must be a string')
        try:
            checksum(check_name, "")
        except InvalidArgument as error:
            raise InvalidArgument(f"{shown}: {error}") from None
    words = None
    if context is not None:
        if not isinstance(context, (list, tuple)) or not all(isinstance(word, str) and word for word in context):
            raise InvalidArgument(f'{shown}: "context" must be an array of words')
        if not context:
            raise InvalidArgument(f'{shown}: "context" must be an array of words')
        words = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, context))})(?!\w)", re.IGNORECASE)
    return _Rule(name, compiled, check_name, words)


def _matches(rule: _Rule, text: str) -> "Iterator[Tuple[re.Match[str], Optional[Tuple[int, int]]]]":
    """Yields the matches of a rule and the range of the word before each."""
    for match in rule.expression.finditer(text):
        if (
            not match[0]
            or rule.checksum
            and not checksum(rule.checksum, match[0].encode(errors="replace").decode())
        ):
            continue
        word = None
        if rule.context is not None:
            start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - _REACH)
            # The character after a word shows whether it is whole; the rest need not be searched.
            for found in rule.context.finditer(text, start, match.start() + 1):
                if found.end() <= match.start():
                    word = found.span()
            if word is None:
                continue
        yield match, word
