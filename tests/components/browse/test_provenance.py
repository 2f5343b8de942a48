"""How gold was made, in one line, whatever stands in a file."""

from components.browse.provenance import provenance_line


def test_what_is_said_and_what_is_of_no_use() -> None:
    made = {"paper_licence": "CC BY", "stages": [{"model": "m"}, {"model": "m"}], "aspects": ["model"]}
    made |= {"review": {"title": "Evidence Inference"}, "coverage": {"n_aspects": 3, "n_covered": 2}}
    made |= {"consensus": {"of": ["Ada", "Ben"], "kappa": 0.4, "n_open": 1}, "decisions": {"by": "consensus"}}
    assert provenance_line(made) == (
        "Made from Evidence Inference; paper under CC BY; with m; decided by consensus; a consensus of Ada and Ben "
        "(kappa 0.40, 1 of their differences open); 2 of 3 aspects covered; aspects proposed by a model."
    )
    assert (
        provenance_line({"consensus": {"of": 3}, "stages": "m", "review": 1, "coverage": [], "aspects": 2})
        == ""
    )
