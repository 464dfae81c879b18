"""What `celeriac demo` shows: progress while it runs, then tables. It is told values and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from orchestrator.flagship.demo import Decided, Progress, Request
from orchestrator.flagship.tally import Stage, Story, Summary
from orchestrator.telling import Told, Tone, plain

STYLES: Final[Mapping[Stage, str]] = {
    Stage.LOADING: "dim",
    Stage.SHIPPING: "cyan",
    Stage.PICK_UP: "blue",
    Stage.REVIEW: "yellow",
    Stage.DONE: "green",
    Stage.FAILED: "red",
}

TONES: Final[Mapping[Tone, str]] = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.WAITING: "yellow",
    Tone.ASIDE: "dim",
}

MEANINGS: Final[Mapping[Stage, str]] = {
    Stage.LOADING: "its lines are being read",
    Stage.SHIPPING: "lines are on their way",
    Stage.PICK_UP: "all shipped, waits for the carrier",
    Stage.REVIEW: "something is missing, a person decides",
    Stage.DONE: "over",
    Stage.FAILED: "ended badly",
}


class Screen(Protocol):
    """Where progress goes while the runs run."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last state standing."""

    def show(self, progress: Progress, seconds: float) -> None:
        """This is how it stands, so long after the start."""


class Rate:
    """Attempts a second, over the last moment."""

    def __init__(self, window: float = 1.0) -> None:
        self._window = window
        self._seen: list[tuple[float, int]] = []

    def of(self, attempts: int, seconds: float) -> float:
        """With this many attempts at this time."""
        self._seen = [*(pair for pair in self._seen if pair[0] >= seconds - self._window), (seconds, attempts)]
        since, before = self._seen[0]
        return (attempts - before) / (seconds - since) if seconds > since else 0.0


class LiveScreen:
    """For a terminal: one picture that is drawn again and again."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rate = Rate()
        self._live = Live(console=console, auto_refresh=False, transient=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, progress: Progress, seconds: float) -> None:
        """Draw."""
        picture = _picture(progress, seconds, self._rate.of(progress.attempts, seconds), self._console.width)
        self._live.update(picture, refresh=True)


class LineScreen:
    """For anything else: a line when something has changed, at most one in two seconds."""

    def __init__(self, console: Console, *, every: float = 2.0) -> None:
        self._console = console
        self._every = every
        self._printed: tuple[Progress, float] | None = None
        self._latest: tuple[Progress, float] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._latest is not None and self._is_new(self._latest[0]):
            self._print(*self._latest)

    def show(self, progress: Progress, seconds: float) -> None:
        """Print a line, unless nothing has changed or the last one was a moment ago."""
        self._latest = progress, seconds
        if self._is_new(progress) and (self._printed is None or seconds >= self._printed[1] + self._every):
            self._print(progress, seconds)

    def _is_new(self, progress: Progress) -> bool:
        return self._printed is None or progress != self._printed[0]

    def _print(self, progress: Progress, seconds: float) -> None:
        before, since = (self._printed[0].attempts, self._printed[1]) if self._printed else (0, 0.0)
        self._printed = progress, seconds
        stages = " · ".join(f"{stage.value} {progress.stages[stage]}" for stage in Stage if progress.stages.get(stage))
        lines = f"{progress.shipped} of {progress.lines} lines shipped, {progress.not_shipped} not"
        rate = (progress.attempts - before) / (seconds - since) if seconds > since else 0.0
        attempts = f"{progress.attempts} attempts" + (f" ({rate:.0f}/s)" if rate >= 1 else "")
        self._console.print(f"{seconds:5.1f} s  {stages or 'starting'} · {lines} · {attempts}", soft_wrap=True)


def screen_for(console: Console) -> Screen:
    """The screen that fits where the console writes to."""
    return LiveScreen(console) if console.is_terminal and not console.is_dumb_terminal else LineScreen(console)


def _picture(progress: Progress, seconds: float, rate: float, width: int) -> RenderableType:
    bar = max(10, min(30, width - 58))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=9)
    grid.add_column(width=bar)
    grid.add_column(justify="right", width=5)
    grid.add_column(style="dim", no_wrap=True, overflow="ellipsis")
    for stage in Stage:
        count = progress.stages.get(stage, 0)
        if stage is not Stage.FAILED or count:
            style = STYLES[stage]
            row = ProgressBar(
                total=max(1, progress.orders), completed=count, width=bar, complete_style=style, finished_style=style
            )
            grid.add_row(Text(stage.value, style=style), row, str(count), MEANINGS[stage])
    settled = progress.shipped + progress.not_shipped
    lines = ProgressBar(
        total=max(1, progress.lines), completed=settled, width=bar, complete_style="cyan", finished_style="cyan"
    )
    grid.add_row("", "", "", "")
    grid.add_row(
        "lines", lines, f"{settled}", f"of {progress.lines}: {progress.shipped} shipped, {progress.not_shipped} not"
    )
    counted = f"{progress.attempts} attempts · {rate:.0f}/s · {seconds:.1f} s"
    return Padding(Group(grid, Text(counted, style="dim")), (1, 0, 1, 1))


# --- after, and between -----------------------------------------------------------------------------------------------


def orders_table(stories: Sequence[Story], deciders: Mapping[str, str]) -> Table:
    """Each order and what happened."""
    table = _table("Orders")
    table.add_column("order", no_wrap=True)
    table.add_column("customer", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("lines", justify="right", no_wrap=True)
    table.add_column("shipped", justify="right", no_wrap=True)
    table.add_column("not", justify="right", no_wrap=True)
    table.add_column("how it ended", max_width=60)
    table.add_column("by", no_wrap=True, overflow="ellipsis", max_width=12)
    for story in stories:
        table.add_row(
            _text(story.order.id),
            _text(story.order.customer),
            str(story.lines),
            str(story.shipped),
            Text(str(story.not_shipped), style="yellow" if story.not_shipped else "dim"),
            Text(plain(ending(story)), style=STYLES[story.stage]),
            _text(deciders.get(story.run_id, "")),
        )
    return table


def ending(story: Story) -> str:
    """How an order ended, or where it stands, in a few words."""
    match story.stage, story.decision, story.join:
        case Stage.FAILED, _, _:
            return f"failed: {story.problem}"
        case Stage.DONE, "approved", _:
            return "approved, rest follows"
        case Stage.DONE, "rejected", _:
            return "rejected, rest struck off"
        case Stage.DONE, "expired", _:
            return "expired, rest struck off"
        case Stage.DONE, _, _:
            return "shipped and picked up"
        case stage, _, _:
            return MEANINGS[stage]


def inbox_table(requests: Sequence[Request]) -> Table:
    """What waits for a person."""
    table = _table("Inbox: what waits for a person")
    table.add_column("order", no_wrap=True)
    table.add_column("customer", no_wrap=True, overflow="ellipsis", max_width=20)
    table.add_column("could not be shipped", ratio=1)
    table.add_column("until (UTC)", no_wrap=True)
    for request in requests:
        missing = "\n".join(plain(reason) for _, reason in request.missing)
        until = f"{request.deadline:%Y-%m-%d %H:%M}" if request.deadline else "for ever"
        table.add_row(_text(request.order.id), _text(request.order.customer), Text(missing), Text(until, style="dim"))
    return table


def decisions_text(decided: Sequence[Decided]) -> Text:
    """Who decided what."""
    orders: dict[tuple[str, str], list[str]] = {}
    for decision in decided:
        orders.setdefault((decision.actor, decision.outlet), []).append(decision.request.order.id)
    lines = [
        Text.assemble(
            f"{plain(actor)} ", (outlet, "green" if outlet == "approved" else "red"), f" {plain(', '.join(ids))}"
        )
        for (actor, outlet), ids in orders.items()
    ]
    return Text("\n").join([*lines, Text()])


def timeline(
    title: str, told: Sequence[Told], *, show: Callable[[Told], bool] = lambda told: told.tone is not Tone.ASIDE
) -> Table:
    """A journal as it happened."""
    table = Table(
        box=None, title=Text(title, style="bold"), title_justify="left", show_header=False, pad_edge=False, expand=True
    )
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(ratio=1)
    for entry in told:
        if show(entry):
            table.add_row(f"+{entry.after.total_seconds():.2f} s", Text(entry.sentence, style=TONES[entry.tone]))
    return table


def summary_text(summary: Summary) -> Text:
    """The numbers, for people."""
    bad = ("red", f"{summary.failed} failed") if summary.failed else ("dim", "none failed")
    return Text.assemble(
        (_many(summary.runs, "order"), "bold"),
        f", {_many(summary.lines, 'line')}: ",
        (f"{summary.shipped} shipped", "green"),
        ", ",
        (f"{summary.not_shipped} not", "yellow" if summary.not_shipped else "dim"),
        f"\n{summary.completed} complete, {summary.partial} for a person: {summary.approved} approved, "
        f"{summary.rejected} rejected, {summary.waiting} open; ",
        (bad[1], bad[0]),
        f"\n{summary.seconds:.1f} s",
    )


def _table(title: str) -> Table:
    return Table(
        box=None,
        title=Text(title, style="bold"),
        title_justify="left",
        header_style="dim underline",
        expand=True,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )


def _text(text: str) -> Text:
    return Text(plain(text))


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
