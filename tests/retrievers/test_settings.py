from typing import Annotated, Literal

import pytest
from pydantic import Field

from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import SettingField, Settings, fields_of
from evidencebench_core.retrievers.settings import JsonText


class Example(Settings):
    whole: int = Field(1, ge=0, description="A number.")
    share: float = Field(0.5, ge=0, le=1)
    flag: bool = False
    kind: Literal["word", "space"] = "word"
    names: tuple[str, ...] = ("a", "b")
    text: str | None = None
    body: Annotated[str | None, JsonText] = None


@pytest.mark.parametrize(
    ("name", "value", "canonical"),
    [
        ("whole", " 12 ", 12),
        ("whole", 12.0, 12),
        ("share", "1e-3", 0.001),
        ("share", 1, 1.0),
        ("flag", "yes", True),
        ("flag", "0", False),
        ("kind", "space", "space"),
        ("names", "bm25, dense,", ("bm25", "dense")),
        ("names", ["x"], ("x",)),  # as read back from JSON
        ("text", " a ", "a"),
        ("text", "None", None),
        ("body", '{"b": [1], "a": null}', '{"a":null,"b":[1]}'),
        ("body", {"a": None, "b": [1]}, '{"a":null,"b":[1]}'),
    ],
)
def test_values_become_canonical(name: str, value: object, canonical: object) -> None:
    values = Example.read("r", {name: value}).values()
    assert values[name] == canonical
    assert type(values[name]) is type(canonical)
    assert list(values) == list(Example.model_fields)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("whole", value) for value in ("abc", 1.5, -1, None)],
        *[("share", value) for value in ("nan", float("inf"), 1.000001, -1e-9)],
        ("flag", "maybe"),
        ("kind", "wrd"),
        ("names", [1, 2]),
        ("text", 3),
        *[("body", value) for value in ("{", "[1]", "{}", '{"a": NaN}')],
        ("shares", 1),
    ],
)
def test_a_value_it_cannot_take_is_one_line_that_names_place_and_setting(name: str, value: object) -> None:
    with pytest.raises(SettingError) as caught:
        Example.read("retriever r", {name: value})
    assert caught.value.place == "retriever r"
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fields_are_what_a_form_needs() -> None:
    fields = fields_of(Example)
    assert fields["whole"] == SettingField("whole", int, 1, "A number.", minimum=0)
    assert fields["share"].allowed() == "a number from 0 to 1"
    assert (fields["kind"].kind, fields["kind"].choices) == (str, ("word", "space"))
    assert (fields["body"].kind, fields["body"].optional, fields["names"].kind) == (dict, True, tuple)
