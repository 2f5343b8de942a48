"""How far two rankings diverge: by instance and by sentence."""

import pandas as pd

from evidencebench_core.analyses.divergence import rank_frame
from evidencebench_core.retrievers import Retrieval


def test_sentences_by_hand() -> None:
    # A picks 7 8 9, B picks 9 5 6; 5 is 6th with A, 8 is 5th with B, 7 and 6 are not ranked by the other.
    a = Retrieval((7, 8, 9, 1, 2, 5), (), (7, 8, 9))
    b = Retrieval((9, 5, 6, 1, 8), (), (9, 5, 6))
    frame = rank_frame(a, b)
    # Apart: 7 is 1st and 6th (behind B's last), 6 is 7th and 3rd, 5 is 6th and 2nd, 8 is 2nd and 5th.
    assert frame["sentence"].tolist() == [7, 5, 6, 8, 9]
    assert frame["rank_a"].tolist() == [1, 6, pd.NA, 2, 3]
    assert frame["rank_b"].tolist() == [pd.NA, 2, 3, 5, 1]
    assert frame["differs"].tolist() == [True] * 4 + [False]
    assert frame["picked_a"].tolist() == [True, False, False, True, True]
    assert rank_frame(a, a)["sentence"].tolist() == [7, 8, 9]
    assert rank_frame(Retrieval((), (), ()), Retrieval((), (), ())).empty
