"""A Markdown page as something that can be followed: its fenced blocks in order, done as a reader would do them.

How a block is read is said by its language, and by its first line where that names a file:

* ``python`` is run, all blocks of a page in one namespace;
* any block whose first line is a comment with a file name alone (``# shipping.py``) is written to that file instead;
* ``console``: lines that begin with ``$ celeriac`` are commands, and must succeed; one that ends with ``&`` goes on in
  the background until the page is over; other lines are what the reader sees, or commands that are not ours to run;
* ``no-run`` behind the language (```` ```python no-run ````) leaves a block out.

Run as a program it follows a page in the current folder: ``python -m tests.house.readme PAGE``.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"^(?:#|//)\s*(?P<name>[\w./-]+\.\w+)\s*$")
_COMMAND = re.compile(r"^\$\s+(?P<command>(?:[A-Z_]+=\S+\s+)*celeriac\b.*)$")


@dataclass(frozen=True, slots=True)
class Code:
    """Python to run."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command to run; `background`: it goes on until the page is over."""

    line: int
    text: str
    background: bool


@dataclass(frozen=True, slots=True)
class Written:
    """A file to write."""

    line: int
    name: str
    text: str


def steps(page: str) -> Iterator[Code | Command | Written]:
    """What a reader of this page does, in order."""
    for block in _FENCE.finditer(page):
        language, *words = block["info"].split() or [""]
        line = page.count("\n", 0, block.start()) + 2
        if "no-run" in words:
            continue
        file = _FILE_NAME.match(block["text"].split("\n", 1)[0])
        if file is not None:
            yield Written(line, file["name"], block["text"])
        elif language == "python":
            yield Code(line, block["text"])
        elif language == "console":
            yield from _commands(block["text"], line)


def _commands(text: str, line: int) -> Iterator[Command]:
    joined = text.replace("\\\n", "\\\x00")
    for row in joined.splitlines():
        if match := _COMMAND.match(row):
            command = match["command"].replace("\\\x00", " ").strip()
            yield Command(line, command.removesuffix("&").strip(), background=command.endswith("&"))
        line += 1 + row.count("\x00")


def follow(page: Path) -> None:
    """Do all that a page says, in the current folder; stop at the first step that fails, and name its line."""
    names: dict[str, object] = {"__name__": "__main__"}
    with contextlib.ExitStack() as until_the_end:
        for step in steps(page.read_text(encoding="utf-8")):
            print(f"{page.name}:{step.line}", flush=True)  # noqa: T201 - the last line printed names the step that failed
            match step:
                case Written(name=name, text=text):
                    Path(name).parent.mkdir(parents=True, exist_ok=True)
                    Path(name).write_text(text, encoding="utf-8")
                case Code(line=line, text=text):
                    exec(compile("\n" * (line - 1) + text, str(page), "exec"), names)
                case Command(text=text, background=True):
                    process = subprocess.Popen(["sh", "-c", f"exec env {text}"])
                    until_the_end.callback(process.wait, 30)
                    until_the_end.callback(process.terminate)
                case Command(text=text):
                    subprocess.run(["sh", "-c", text], check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    follow(Path(sys.argv[1]))
