"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from evidencebench_core.data.files import file_content, whole_file
from evidencebench_core.errors import DataError, SettingError


def test_a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    usual, new, old = tmp_path / "usual", tmp_path / "new", tmp_path / "old"
    usual.touch()
    old.write_text("before")
    old.chmod(0o640)
    for path in (new, old):
        with whole_file(path) as stream:
            stream.write(b"whole")
        assert path.read_bytes() == b"whole"
    assert stat.S_IMODE(new.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert len(list(tmp_path.iterdir())) == 3


def test_the_file_and_its_name_are_on_disk_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, bool]] = []
    path, sync = tmp_path / "out", os.fsync

    def watched(handle: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(handle).st_mode), path.exists()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    with whole_file(path, private=True) as stream:
        stream.write(b"whole")
    assert synced == [(False, False), (True, True)]  # first the content, then the folder with its name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_error_in_the_block_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")

    def written_halfway() -> None:
        with whole_file(path) as stream:
            stream.write(b"half")
            raise KeyError("ours")

    with pytest.raises(KeyError):
        written_halfway()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_a_folder_is_refused(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    with whole_file(link) as stream:
        stream.write(b"after")
    assert link.is_symlink()
    assert target.read_text() == "after"
    with pytest.raises(SettingError, match="it is a folder"), whole_file(tmp_path):
        pytest.fail("the block must not run")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(pipe) as stream:
        stream.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_only_regular_files_are_read_and_so_many_bytes(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)  # nobody writes to it
    file.write_bytes(b"12345")
    assert file_content(file, 5, "") == b"12345"
    for path, said in (
        (pipe, "is not a regular file"),
        (Path("/dev/zero"), "is not a regular file"),
        (tmp_path, "cannot be read"),
        (tmp_path / "none", "cannot be read"),
        (tmp_path / "\0", "cannot be read"),
    ):
        with pytest.raises(DataError, match=said):
            file_content(path, 5, "Give a file.")
    with pytest.raises(DataError, match="has more than 4 bytes"):
        file_content(file, 4, "")
