"""The style sheet of every picture, made of the palette once. All of it is under ``.cel`` and touches nothing else.

Each colour is told twice, first as the light one for viewers that know no variables, then as a variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.drawing.palette import GROUND, KINDS, STATUSES

_SANS: Final = "Inter,ui-sans-serif,system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
_MONO: Final = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"


def _variables(theme: int) -> Iterator[tuple[str, str]]:
    """The colours of a theme by name, 0 being light and 1 dark."""
    for name, colours in GROUND.items():
        yield name, colours[theme]
    for kind, tones in KINDS.items():
        yield f"k-{kind}-fill", tones[theme].fill
        yield f"k-{kind}-ink", tones[theme].ink
    for status, look in STATUSES.items():
        tone = (look.light, look.dark)[theme]
        yield f"s-{status}-fill", tone.fill
        yield f"s-{status}-line", tone.line
        yield f"s-{status}-ink", tone.ink


_LIGHT: Final = dict(_variables(0))


def _fill(name: str) -> str:
    return f"fill:{_LIGHT[name]};fill:var(--{name})"


def _stroke(name: str) -> str:
    return f"stroke:{_LIGHT[name]};stroke:var(--{name})"


def _rule(selectors: str, *declarations: str) -> str:
    """A rule for parts of a picture; `selectors` are separated by commas."""
    return ",".join(f".cel{selector}" for selector in selectors.split(",")) + "{" + ";".join(declarations) + "}"


def _themes() -> Iterator[str]:
    light, dark = (";".join(f"--{name}:{colour}" for name, colour in _variables(theme)) for theme in (0, 1))
    yield f".cel{{color-scheme:light dark;font-family:{_SANS};{light}}}"
    yield f"@media (prefers-color-scheme:dark){{.cel{{{dark}}}}}"
    yield f"[data-theme=light] .cel,.cel[data-theme=light]{{color-scheme:light;{light}}}"
    yield f"[data-theme=dark] .cel,.cel[data-theme=dark]{{color-scheme:dark;{dark}}}"


def _ground() -> Iterator[str]:
    yield _rule(" .canvas", _fill("canvas"))
    yield _rule(" .body", _fill("body"), _stroke("body-line"), "stroke-dasharray:5 4")
    yield _rule(" .caption", _fill("body-ink"), "font-size:11px;font-weight:500")
    yield _rule(" .edge", "fill:none", _stroke("edge"), "stroke-width:1.5")
    yield _rule(" .head, .end", _fill("edge"))
    yield _rule(".run .edge", _stroke("rest"))
    yield _rule(".run .head,.run .end", _fill("rest"))
    yield _rule(" .edge.taken", _stroke("taken"), "stroke-width:2.5")
    yield _rule(" .head.taken", _fill("taken"))
    yield _rule(" .edge.undeclared", _stroke("trouble"), "stroke-dasharray:2 4")
    yield _rule(" .pill", _fill("canvas"), _stroke("line"))
    yield _rule(" .outlet text", _fill("soft"), "font-size:10.5px;font-weight:500;text-anchor:middle")
    yield _rule(" .outlet.taken .pill", _stroke("taken"))
    yield _rule(" .outlet.taken text", _fill("taken"), "font-weight:600")
    yield _rule(":not(.run) .outlet.trouble text, .outlet.undeclared text", _fill("trouble"))
    yield _rule(" .box, .sheet", _fill("card"), _stroke("line"), "stroke-width:1.25")
    yield _rule(" .title", _fill("ink"), "font-size:13px;font-weight:600")
    yield _rule(" .second", _fill("soft"), "font-size:10.5px")
    yield _rule(" .second.name", f"font-family:{_MONO};font-size:10px")
    yield _rule(" .icon, .mark", "fill:none;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round")
    yield _rule(" .badge text", "font-size:10px;font-weight:600")
    yield _rule(" .b-count rect", _fill("card"), _stroke("line"))
    yield _rule(" .b-count text", _fill("soft"))


def _kinds() -> Iterator[str]:
    for kind in KINDS:
        yield _rule(f" .{kind} .tile", _fill(f"k-{kind}-fill"))
        yield _rule(f" .{kind} .icon", _stroke(f"k-{kind}-ink"))


def _statuses() -> Iterator[str]:
    for status in STATUSES:
        node = f' .node[data-state="{status}"]'
        fill, line, ink = (f"s-{status}-{part}" for part in ("fill", "line", "ink"))
        yield _rule(f"{node} .box,{node} .sheet", _fill(fill), _stroke(line), "stroke-width:1.75")
        yield _rule(f"{node} .tile", _fill("card"))
        yield _rule(f"{node} .icon", _stroke(ink))
        yield _rule(f" .b-{status} rect", _fill(fill), _stroke(line))
        yield _rule(f" .b-{status} text", _fill(ink))
        yield _rule(f" .b-{status} .mark", _stroke(ink))
    yield _rule(' .node[data-state="Unreachable"] .box', "stroke-dasharray:4 3")
    yield _rule(' .node[data-state="Unreachable"] .title', _fill("soft"))
    pulse = _rule(' .node[data-state="Scheduled"] .box', "animation:cel-pulse 1.8s ease-in-out infinite")
    yield f"@media (prefers-reduced-motion:no-preference){{{pulse}}}@keyframes cel-pulse{{50%{{stroke-opacity:.35}}}}"


#: The text inside ``<style>``.
STYLE: Final = "".join([*_themes(), *_ground(), *_kinds(), *_statuses()])
