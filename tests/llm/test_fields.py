"""Fields that a server refuses are left out from then on, model by model."""

from __future__ import annotations

from evidencebench_core.llm.fields import FieldsTaken

BODY = {"model": "m", "seed": 0, "max_tokens": 9}


def test_fields_are_left_out_or_renamed_for_that_model_only() -> None:
    fields = FieldsTaken()
    assert fields.fitting(BODY, "m") == (BODY, ())
    for name in ("seed", "max_tokens", "seed", "temperature"):
        fields.leave_out("m", name)
    assert fields.fitting(BODY, "m") == ({"model": "m", "max_completion_tokens": 9}, ("seed",))
    assert fields.fitting(BODY, "another") == (BODY, ())
    fields.leave_out("m", "max_completion_tokens")  # not under its new name either
    assert fields.fitting(BODY, "m") == ({"model": "m"}, ("seed", "max_completion_tokens"))
