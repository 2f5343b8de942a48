"""What README and the manual tell people to type is what the command takes; README's own walk is carried out."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from evidencebench_core.cli import main
from evidencebench_core.cli.frame import app

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(text: str) -> Iterator[list[str]]:
    """The words behind ``evidencebench`` of every line in a code block, without the environment before it."""
    for block in re.findall(r"^```[^\n]*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if "evidencebench" in words:
                yield words[words.index("evidencebench") + 1 :]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_command_parses(path: Path) -> None:
    for words in commands(path.read_text(encoding="utf-8")):
        command = typer.main.get_command(app)
        rest = list(words)
        while hasattr(command, "commands"):
            command = command.commands[rest.pop(0)]
        with command.make_context(command.name, rest) as context:  # parses, and runs nothing
            assert context.params


def test_the_links_lead_somewhere() -> None:
    for path in TEXTS:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


@pytest.mark.usefixtures("hashing_encoder")
def test_six_commands_on_the_sample_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = ROOT / "sample_data" / "sample_data.json"
    instances = json.loads(sample.read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    walk = list(commands(readme.split("## Your own data")[1].split("## ")[0]))
    assert [words[0] for words in walk] == ["ingest", "run", "score", "import-run", "compare", "find"]

    monkeypatch.chdir(tmp_path)
    Path("sample_data").symlink_to(sample.parent)
    Path("mine.json").write_text(json.dumps({key: [0, 1, 2] for key in instances}), encoding="utf-8")
    first = next(iter(instances.values()))
    Path("paper.txt").write_text("\n\n".join(first["paper_as_candidate_pool"]), encoding="utf-8")
    names: dict[str, str] = {}
    for words in walk:
        assert main([names.get(word, word) for word in words]) == 0, words
        capsys.readouterr()
        assert main(["list", "runs", "--json"]) == 0
        ids = [row["run"] for row in json.loads(capsys.readouterr().out)]
        names |= dict(zip(("RUN", "OTHER_RUN"), reversed(ids) if words[0] == "run" else ids, strict=False))
    assert "</html>" in Path("page.html").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```python\n(.*?)^```", readme, flags=re.DOTALL | re.MULTILINE)
    exec(snippet, {})  # noqa: S102 - "In a notebook", over the same store
