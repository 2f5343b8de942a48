import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import SettingSpec


@pytest.mark.parametrize(
    ("kind", "value", "canonical"),
    [
        (int, "12", 12),
        (int, " 12 ", 12),
        (int, 12.0, 12),
        (float, "1.50", 1.5),
        (float, 2, 2.0),
        (float, "1e-3", 0.001),
        (bool, "Yes", True),
        (bool, "0", False),
        (bool, False, False),
        (str, " minilm ", "minilm"),
        (tuple, "bm25, dense,", ("bm25", "dense")),
        (tuple, ["a", "b"], ("a", "b")),  # as read back from JSON
    ],
)
def test_values_become_canonical(kind: type, value: object, canonical: object) -> None:
    result = SettingSpec(None, kind, "").canonical(value, "r", "s")
    assert result == canonical
    assert type(result) is type(canonical)


REFUSED: dict[type, list[object]] = {
    int: ["abc", "1.5", 1.5, True, "9" * 5000, [1]],
    float: ["nan", float("inf"), 10**400, False, None],
    bool: ["maybe", 1],
    str: ["", 3],
    tuple: ["", [1, 2], 3],
}


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind in REFUSED for value in REFUSED[kind]])
def test_values_of_another_kind_are_refused(kind: type, value: object) -> None:
    default = {int: 1, float: 1.0, bool: True, str: "x", tuple: ("x",)}[kind]
    with pytest.raises(SettingError, match=r"^r: s cannot be .*\. Give .*\.$"):
        SettingSpec(default, kind, "").canonical(value, "r", "s")


def test_bounds_are_allowed_themselves_and_nothing_beyond() -> None:
    spec = SettingSpec(0.5, float, "", minimum=0, maximum=1)
    assert [spec.canonical(value, "r", "s") for value in (0, 1, "-0.0")] == [0.0, 1.0, 0.0]
    assert str(spec.canonical(-0.0, "r", "s")) == "0.0"
    for value in (-1e-9, 1.000001):
        with pytest.raises(SettingError, match="Give a number from 0 to 1"):
            spec.canonical(value, "r", "s")


def test_one_bound_is_named_alone_and_choices_come_with_the_nearest() -> None:
    assert SettingSpec(1, int, "", minimum=1).allowed() == "a whole number of 1 or more"
    assert SettingSpec(1, int, "", maximum=9).allowed() == "a whole number of 9 or less"
    spec = SettingSpec("word", str, "", choices=("word", "whitespace"))
    with pytest.raises(SettingError, match=r"'wrd'\. Did you mean 'word'\? Choices are: word, whitespace"):
        spec.canonical("wrd", "r", "s")


def test_none_is_a_value_only_where_it_is_the_default() -> None:
    assert SettingSpec(None, int, "").canonical("None", "r", "s") is None
    assert SettingSpec("x", str, "").canonical("none", "r", "s") == "none"
    unset = SettingSpec(0.0, float, "", optional=True)
    assert (unset.canonical("none", "r", "s"), unset.canonical("0.5", "r", "s")) == (None, 0.5)
    with pytest.raises(SettingError):
        SettingSpec("x", str, "").canonical(None, "r", "s")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_survives_its_text(number: float) -> None:
    spec = SettingSpec(0.0, float, "")
    assert spec.canonical(repr(number), "r", "s") == spec.canonical(number, "r", "s")


@pytest.mark.parametrize("given", ['{"b": [1], "a": {"c": null}}', {"a": {"c": None}, "b": [1]}])
def test_a_json_object_is_kept_as_its_canonical_text(given: object) -> None:
    spec = SettingSpec(None, dict, "")
    assert spec.canonical(given, "r", "s") == '{"a":{"c":null},"b":[1]}'
    assert spec.canonical(f'{{"a":{2**70}}}', "r", "s") == f'{{"a":{2**70}}}'  # beyond 64 bits: as it is
    for wrong in ("{", "[1]", "3", "{}", '{"a": NaN}', '{"a": 1, "a": 2}', {"a": object()}):
        with pytest.raises(SettingError, match="Give a JSON object"):
            spec.canonical(wrong, "r", "s")
