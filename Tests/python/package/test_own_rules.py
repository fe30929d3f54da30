"""bertqa.Rules, checksum and apply_lists: rules of the caller, and texts that stay and texts that go."""

import pytest

import bertqa

RULES = [
    {"name": "STAFF", "expression": r"E-\d{6}"},
    {"name": "LOYALTY", "expression": r"\d{11}", "checksum": "luhn", "context": ["loyalty"]},
]
TEXT = "É: E-123456, Loyalty 79927398713, 79927398710. ann@x.org, Ann's"


def test_rules_say_why():
    found = bertqa.Rules(RULES).entities(TEXT)
    assert [(e.text, e.label, e.rule, e.checksum, e.context, e.score) for e in found] == [
        ("E-123456", "STAFF", "STAFF", None, None, 1),
        ("79927398713", "LOYALTY", "LOYALTY", "luhn", "Loyalty", 1),
    ]
    assert (found[0].start, found[0].byte_range) == (3, (4, 12))
    assert bertqa.redact(TEXT, found + bertqa.patterns(TEXT)) == (
        "É: [STAFF], Loyalty [LOYALTY], 79927398710. [EMAIL], Ann's"
    )


def test_rules_of_one_name():
    one, other = {"name": "N", "expression": r"\d+"}, {"name": "N", "expression": r"\d{11}", "checksum": "luhn"}
    for rules in [one, other], [other, one]:
        found = bertqa.Rules(rules).entities("79927398713")
        assert sorted(str(entity.checksum) for entity in found) == ["None", "luhn"]


@pytest.mark.parametrize("head", [b"", b"\xff\xe2 ", "\ud800"])
def test_invalid_texts(head):
    text = head + ("loyalty 79927398713" if isinstance(head, str) else b"loyalty 79927398713")
    [found] = bertqa.Rules(RULES).entities(text)
    assert found.text == text[-11:] and found.end == len(text)
    assert found.context == text[len(head) : len(head) + 7]


def test_rules_that_overlap_and_rules_that_find_nothing():
    rules = bertqa.Rules([{"name": "A", "expression": "a+"}, {"name": "B", "expression": "ab"}, *RULES])
    assert len(rules) == 4
    assert [(e.label, e.text) for e in rules.entities("aab")] == [("A", "aa"), ("B", "ab")]
    assert list(bertqa.Rules([]).entities("a")) == [] and list(rules.entities("")) == []
    assert list(bertqa.Rules([{"name": "A", "expression": "(?=a)|b*"}]).entities("a")) == []


@pytest.mark.parametrize(
    "rule, what",
    [
        ({}, "needs a name"),
        ({"name": "A]", "expression": "a"}, "needs a name"),
        ({"name": "é" * 33, "expression": "a"}, "needs a name"),
        ({"name": "\ud800", "expression": "a"}, "needs a name"),
        ({"name": "A"}, "needs an expression"),
        ({"name": "A", "expression": "a{%s}" % (1 << 40)}, "rule 2: the expression: .*too large"),
        ({"name": "A", "expression": "(" * 5000 + ")" * 5000}, "rule 2: the expression: .*recursion"),
        ({"name": "A", "expression": "a\n(b"}, "rule 2: the expression: .* at line 2, column 1"),
        ({"name": "A", "expression": "a", "checksum": "luhm"}, "luhn"),
        ({"name": "A", "expression": "a", "checksum": 3}, "string"),
        ({"name": "A", "expression": "a", "context": "b"}, "array of words"),
        ({"name": "A", "expression": "a", "context": []}, "array of words"),
        ({"name": "A", "expresion": "a"}, "unknown member 'expresion'"),
        ("a", "must be a dict"),
    ],
)
def test_wrong_rules(rule, what):
    with pytest.raises(bertqa.InvalidArgument, match=what):
        bertqa.Rules([RULES[0], rule])


@pytest.mark.parametrize("data", [b'{"rules": "\xff"}', b"[" * 100000, b'{"rules": %s}' % (b"1" * 5000), b"{"])
def test_files_that_are_no_rules(tmp_path, data):
    (tmp_path / "rules.json").write_bytes(data)
    with pytest.raises(bertqa.InvalidArgument, match="rules.json: "):
        bertqa.Rules.load(tmp_path / "rules.json")


def test_checksums():
    for name, right, wrong in [
        ("luhn", "7992-7398-713", "79927398714"),
        ("mod97", "549300 84UKLVMY22DS16", "54930084UKLVMY22DS61"),
        ("verhoeff", "2363", "2364"),
        ("iban", "GB82 WEST 1234 5698 7654 32", "GB28 WEST 1234 5698 7654 32"),
        ("pl_pesel", "44051401359", "44051401358"),
    ]:
        assert bertqa.checksum(name, right) and not bertqa.checksum(name, wrong), name
    with pytest.raises(bertqa.InvalidArgument, match="luhn, mod97"):
        bertqa.checksum("us_ssn", "")


def test_lists():
    found = bertqa.patterns(TEXT)
    assert bertqa.redact(TEXT, bertqa.apply_lists(TEXT, found, allow=["ANN@x.org"], deny=["ann"])) == (
        "É: E-123456, Loyalty 79927398713, 79927398710. [DENIED]@x.org, [DENIED]'s"
    )
    kept = bertqa.apply_lists(TEXT, found, deny="loyalty 79927398713")
    assert [(e.label, e.rule) for e in kept] == [("DENIED", "deny"), ("EMAIL", "email")]
    # What said why stays, also with everywhere.
    text = "Tel. 030 901820; 030-901820"
    repeated = bertqa.everywhere(text, [e for e in bertqa.patterns(text)][:1])
    assert [(e.rule, e.context) for e in repeated] == [("phone", "Tel"), ("everywhere", None)]
    for wrong in (["--"], ["a " * 17]):
        with pytest.raises(bertqa.InvalidArgument, match="at 0"):
            bertqa.apply_lists(TEXT, found, allow=wrong)


def test_columns():
    rules = bertqa.Rules(RULES)
    column = bertqa.redact_column([TEXT, None, "falcon"], rules=rules, allow="ann@x.org", deny=["Falcon"])
    assert list(column) == [
        TEXT.replace("E-123456", "[STAFF]").replace("79927398713", "[LOYALTY]"),
        None,
        "[DENIED]",
    ]
    found = bertqa.patterns_column([TEXT], "email", rules=rules)
    assert sorted(entity["label"] for entity in found[0]) == ["EMAIL", "LOYALTY", "STAFF"]
    with pytest.raises(bertqa.InvalidArgument, match="words"):
        bertqa.redact_column(["a"], allow=["-"])
