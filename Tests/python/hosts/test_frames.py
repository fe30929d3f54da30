"""The accessor of pandas and the namespace of Polars."""

import pytest

from conftest import FIXTURES
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
    assert frame.bertqa.classify("body", top_k=2).tolist()[3] is pandas.NA
    assert set(frame.bertqa.answer("body", QUESTION, top_k=2).columns) == {"answers", "is_impossible"}
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
        body.bertqa.answer(polars.lit(QUESTION)).alias("literal"),
        polars.lit(TEXTS[1]).bertqa.answer(polars.col("question")).alias("one text"),
        body.bertqa.answer(QUESTION, top_k=2).alias("answers"),
        body.bertqa.answer(polars.col("question"), top_k=2).alias("answers to each"),
        body.bertqa.classify(top_k=2).alias("labels"),
    ]
    source = frame.lazy() if lazy else frame
    result = source.with_columns(columns)
    if lazy:
        expected = result.collect_schema()
        result = result.collect()
        assert result.schema == expected
    assert result["answer"].struct.field("answer").to_list()[1::2] == ["Paris", None]
    assert result["each"].equals(result["answer"].rename("each"))
    assert result["literal"].equals(result["answer"].rename("literal"))
    assert result["one text"].struct.field("answer").to_list() == ["Paris"] * 4
    assert result["answers"].struct.field("answers").to_list()[1][0]["answer"] == "Paris"
    assert result["answers to each"].equals(result["answers"].rename("answers to each"))
    assert [None if row is None else len(row) for row in result["labels"]] == [2, 2, 2, None]
    assert result["entities"].to_list()[1][0]["text"] == "Ann Smith"
    assert result["vector"].to_list()[3] is None and len(result["vector"].to_list()[0]) == 384
    assert result["topic"].struct.field("label").to_list()[3] is None
    with pytest.raises(TypeError, match="question is None"):
        body.bertqa.answer(None)
    with pytest.raises(TypeError, match="top_k is '2', but must be an integer"):
        body.bertqa.answer(QUESTION, top_k="2")
    # Only a single row is repeated.
    for column in polars.col("question").head(2), polars.col("question").head(3):
        with pytest.raises(bertqa.InvalidArgument, match="fewer questions than documents"):
            source.select(body.bertqa.answer(column)).lazy().collect()


def test_relative_paths_of_models(tmp_path, monkeypatch):
    """A relative path names the model of the working directory, also after another."""
    for place, model in ("a", "tiny-bert-embedder"), ("b", "tiny-albert-embedder"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "model").symlink_to(FIXTURES / model)
    series = pandas.DataFrame({"body": ["the river"]})
    lengths = []
    for place in "a", "b":
        monkeypatch.chdir(tmp_path / place)
        [vector] = series.bertqa.embed("body", model="model")
        with bertqa.Context("model") as context:
            assert list(vector) == pytest.approx(list(context.embed(["the river"])[0]))
        lengths.append(list(vector))
    assert lengths[0] != lengths[1]
