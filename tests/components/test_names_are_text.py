"""What Streamlit reads as Markdown holds no name as it is: each value in it is `literal`, a number, or ours."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FIRST: Final = re.compile(  # calls, Streamlit's and ours, whose first argument is Markdown
    "title|markdown|caption|info|warning|error|success|toast|expander|popover|spinner|dialog|flash|page_link"
    "|(form_submit_|download_|csv_)?button|checkbox|toggle|(text|number)_input|text_area|(multi)?select(box)?"
    "|pills|segmented_control|file_uploader|Ask"
)
PLACE: Final = {"option_switch": 2, "ask_button": 1}  # where it comes later
OPTIONS: Final = ("segmented_control", "pills")  # whose options are Markdown; those of boxes are not
SAFE: Final = ("literal", "quantity", "percent", "duration", "points", "len", "columns")
WHOLE: Final = ("join", "enumerated", "filter", "zip")  # safe where all they are given is
# What is no name: parameters (who gives them is looked at), words of the program, what is escaped where it is made.
OURS: Final = """
label title help_text about message what param fallback line number index letter budget whose retriever choice.name
ask.title cause.rule cause.title task.title context.task.title reading.task.title task_named(task).title kind.form
kind.most_bytes kind.size(info) item.decision instance.synthetic remote.page type(error).__name__ 'p.{}'.format
counts['supports'] counts['against'] counts['neither'] counts[''] wanted.get(a_filter.column)
outcome_line(retrieval) _cost_text(cost) _p_text(row) estimate_text(cost,ask.noun) _facts(row) _paper(instance)
address_text(session_connection()) original
"""


def texts(call: ast.Call) -> Iterator[ast.expr]:
    """The Markdown among the arguments of a call."""
    name = called(call)
    if name in PLACE or FIRST.fullmatch(name):
        yield from call.args[PLACE.get(name, 0) :][:1]
        for keyword in call.keywords:
            if keyword.arg in ("label", "body", "help") or (keyword.arg == "format_func" and name in OPTIONS):
                yield keyword.value.body if isinstance(keyword.value, ast.Lambda) else keyword.value


def called(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def names(node: ast.AST, known: Mapping[str, ast.expr]) -> Iterator[str]:
    """The values in a text that may be anybody's; ``known`` are the texts that a function gives its variables."""
    if (
        isinstance(node, ast.FormattedValue)
        and node.format_spec
        and ast.unparse(node.format_spec)[-2] in ",dfg%"
    ):
        return  # a number
    parts: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call) and called(node) in WHOLE:
        parts = list(node.args)
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        parts = [node.elt]
    elif isinstance(node, ast.Name) and node.id in known:
        parts, known = [known[node.id]], {name: text for name, text in known.items() if name != node.id}
    elif isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.Subscript):
        parts, text = [], ast.unparse(node).replace(" ", "")
        if called(node) not in SAFE and not text.strip("_").split("[")[0].split(".")[0].isupper():
            yield text
    for part in parts:
        yield from names(part, known)


def names_in(code: str) -> Iterator[tuple[int, str]]:
    """By line what of a file's Markdown may be anybody's; a variable is looked up in the function around it."""
    for block in ast.parse(code).body:
        known: dict[str, ast.expr] = {}
        for node in ast.walk(block):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                known[node.targets[0].id] = node.value
            elif isinstance(node, ast.For | ast.comprehension) and not [
                *names(node.iter, {})
            ]:  # over a table of ours
                targets = [part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)]
                known |= dict.fromkeys(targets, node.iter)
        for call in ast.walk(block):
            if isinstance(call, ast.Call):
                yield from ((call.lineno, name) for text in texts(call) for name in names(text, known))


def test_no_name_is_read_as_markdown() -> None:
    code = "def draw():\n    st.pills('Run', ids, format_func=lambda run_id: by_id[run_id].label)"
    assert list(names_in(code)) == [(2, "by_id[run_id].label")]  # it is seen
    wrong = set()
    for path in [*ROOT.glob("pages/*.py"), *ROOT.glob("components/**/*.py")]:
        for line, name in names_in(path.read_text("utf-8")):
            if name not in OURS.split():
                wrong.add(f"{path.relative_to(ROOT)}:{line}: {name}")
    assert not wrong, "\n".join(["not `literal`:", *sorted(wrong)])
