"""The accessor of pandas and the namespace of Polars."""

import pytest

from hosts import QUESTION, TEXTS, host

pandas, polars, _ = host("pandas"), host("polars"), host("pyarrow")

import bertqa  # noqa: E402
import bertqa.pandas  # noqa: E402, F401
import bertqa.polars  # noqa: E402, F401


def test_pandas():
    frame = pandas.DataFrame({"body": [*TEXTS, None], "question": [QUESTION] * 4}, index=list("abcd"))
    found = frame.bertqa.answer("body", question=QUESTION)
    assert found["answer"].tolist()[1] == "Paris" and found.index.tolist() == list("abcd")
    assert found["answer"].isna().tolist() == [False, False, False, True]
    joined = frame.join(found)
    assert joined.loc["b", "body"][joined.loc["b", "start"] : joined.loc["b", "end"]] == "Paris"
    assert frame.bertqa.answer("body", question=frame["question"]).equals(found)
    assert set(frame.bertqa.classify("body").columns) == {"label", "probability", "probabilities"}
    assert frame.bertqa.entities("body", threshold=0.5).tolist()[1][0]["text"] == "Ann Smith"
    assert len(frame.bertqa.embed("body").tolist()[0]) == 384
    with bertqa.Context() as context:
        assert frame.bertqa.answer("body", QUESTION, model=context).equals(found)


@pytest.mark.parametrize("lazy", [False, True])
def test_polars(lazy):
    frame = polars.DataFrame({"body": [*TEXTS, None], "question": [QUESTION] * 4})
    body = polars.col("body")
    columns = [
        body.bertqa.answer(QUESTION).alias("answer"),
        body.bertqa.answer(polars.col("question")).alias("each"),
        body.bertqa.classify().alias("topic"),
        body.bertqa.entities(threshold=0.5).alias("entities"),
        body.bertqa.embed().alias("vector"),
    ]
    source = frame.lazy() if lazy else frame
    result = source.with_columns(columns)
    if lazy:
        expected = result.collect_schema()
        result = result.collect()
        assert result.schema == expected
    assert result["answer"].struct.field("answer").to_list()[1::2] == ["Paris", None]
    assert result["each"].equals(result["answer"].rename("each"))
    assert result["entities"].to_list()[1][0]["text"] == "Ann Smith"
    assert result["vector"].to_list()[3] is None and len(result["vector"].to_list()[0]) == 384
    assert result["topic"].struct.field("label").to_list()[3] is None
    with pytest.raises(TypeError, match="question is None"):
        body.bertqa.answer(None)
