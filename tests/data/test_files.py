"""Files that are there whole or not at all, and files that are read within a bound."""

import os
import stat
from pathlib import Path

import pytest

from evidencebench_core.data.files import file_content, whole_file
from evidencebench_core.errors import DataError, SettingError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_permissions_links_and_folders(tmp_path: Path) -> None:
    usual, new, old, link = (tmp_path / name for name in ("usual", "new", "old", "link"))
    usual.touch()
    old.write_text("before")
    old.chmod(0o640)
    link.symlink_to(old)
    for path in (new, link):
        with whole_file(path) as stream:
            stream.write(b"whole")
        assert path.read_bytes() == b"whole"
    assert link.is_symlink()
    assert (mode(new), mode(old)) == (mode(usual), 0o640)
    with whole_file(new, private=True) as stream:
        stream.write(b"private")
    assert mode(new) == 0o600
    with pytest.raises(SettingError), whole_file(tmp_path):
        pytest.fail("the block must not run")
    assert len(list(tmp_path.iterdir())) == 4


def test_an_error_in_the_block_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    with pytest.raises(KeyError), whole_file(path) as stream:  # noqa: PT012 - half is written
        stream.write(b"half")
        raise KeyError("ours")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_only_regular_files_are_read_and_so_many_bytes(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)  # nobody writes to it
    file.write_bytes(b"12345")
    assert file_content(file, 5, "") == b"12345"
    for path in (pipe, Path("/dev/zero"), tmp_path, tmp_path / "none", tmp_path / "\0"):
        with pytest.raises(DataError):
            file_content(path, 5, "Give a file.")
    with pytest.raises(DataError, match="more than 4 bytes"):
        file_content(file, 4, "")
