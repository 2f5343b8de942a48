from types import MappingProxyType

from evidencebench_core.retrievers import Retrieval


def test_a_retrieval_draws_its_picks_and_escapes_its_details() -> None:
    details = MappingProxyType({"<b>prompt": "<script>alert('x')</script>"})
    html = Retrieval((7, 3, 5), (0.51234, 0.25, 0.0), (7, 5), seconds=0.25, details=details)._repr_html_()
    assert "2 picks of 3 ranked sentences, 0.250 s" in html
    assert "<tr><td>7</td><td>1</td><td>0.5123</td></tr><tr><td>5</td><td>3</td><td>0</td></tr>" in html
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;alert(&#x27;x&#x27;)" in html
    # A pick that was never ranked has neither rank nor score.
    assert "<tr><td>4</td><td>–</td><td>–</td></tr>" in Retrieval((), (), (4,))._repr_html_()
