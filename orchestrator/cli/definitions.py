"""`celeriac definitions`: publish, validate, list, show, activate, deactivate, diagram."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.terminal import (
    AsJson,
    DatabaseUrl,
    Scope,
    complain,
    misused,
    opened,
    run_id,
    tell,
    tell_json,
    tell_table,
)
from orchestrator.errors import Reason, Refused, Rejected

if TYPE_CHECKING:
    from orchestrator.core.graph import Definition

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Documents, JSON or YAML.")]
Named = Annotated[str, typer.Argument(metavar="ID[@V]", help="A workflow, and a version if not the active one.")]


def register(app: typer.Typer) -> None:
    """Add the noun."""
    noun = typer.Typer(no_args_is_help=True, help="Publish, check, list and draw definitions.")
    for command in (publish, validate, show, activate, deactivate, diagram):
        noun.command()(command)
    noun.command("list")(list_)
    app.add_typer(noun, name="definitions")


def named(text: str) -> tuple[str, int | None]:
    """``ID`` or ``ID@V``."""
    found = re.fullmatch(r"(.+)@([0-9]{1,9})", text, re.DOTALL)
    return (found[1], int(found[2])) if found else (text, None)


def read(files: Sequence[Path]) -> tuple[dict[str, Definition], dict[str, list[Reason]]]:
    """What these files define, and what is wrong with those that define nothing; by their names."""
    from orchestrator.core.document import definition_from
    from orchestrator.definition_files import load_document

    good: dict[str, Definition] = {}
    bad: dict[str, list[Reason]] = {}
    for file in files:
        try:
            good[str(file)] = definition_from(load_document(file))
        except Rejected as error:
            bad[str(file)] = error.reasons
    return good, bad


def _place(file: str, where: str) -> str:
    return file if where in {"", file} else f"{file}: {where}"


def publish(files: Files, scope: Scope = "default", database_url: DatabaseUrl = None, json: AsJson = False) -> None:
    """Publish versions and make them active; the same again changes nothing. With one bad file none is published."""
    good, bad = read(files)
    if bad:
        raise Rejected(Reason(r.kind, _place(name, r.where), r.message) for name, told in bad.items() for r in told)
    rows = []
    with opened(database_url) as orchestrator:
        for name, definition in good.items():
            try:
                rows.append(orchestrator.publish(definition, scope=scope))
            except Rejected as error:
                before = f"{len(rows)} of {len(good)} files are published; "
                for reason in error.reasons:
                    complain(f"{before if len(good) > 1 else ''}{name}: {reason}")
                raise typer.Exit(1) from None
    if json:
        tell_json([{"workflow": r.workflow, "version": r.version, "active": r.active} for r in rows])
    else:
        for row in rows:
            tell(f"{row.workflow}@{row.version} is published{' and active' if row.active else ''}")


def validate(files: Files, json: AsJson = False) -> None:
    """Check documents and list every violation; nothing is stored."""
    _, bad = read(files)
    told = {str(file): bad.get(str(file), []) for file in files}
    if json:
        tell_json(
            [
                {
                    "file": file,
                    "reasons": [{"kind": r.kind, "where": r.where, "message": r.message} for r in reasons],
                }
                for file, reasons in told.items()
            ]
        )
    else:
        for name, reasons in told.items():
            if not reasons:
                tell(f"{name}: good")
            for reason in reasons:
                complain(f"{_place(name, reason.where)}: {reason.kind}: {reason.message}")
    if bad:
        raise typer.Exit(1)


def list_(scope: Scope = "default", database_url: DatabaseUrl = None, json: AsJson = False) -> None:
    """All published versions."""
    from orchestrator.core.instants import format_instant

    with opened(database_url) as orchestrator:
        rows = orchestrator.definitions(scope=scope)
    if json:
        tell_json(
            [
                {
                    "workflow": r.workflow,
                    "version": r.version,
                    "active": r.active,
                    "publishedAt": format_instant(r.published_at),
                }
                for r in rows
            ]
        )
        return
    tell_table(
        ("workflow", "version", "active", "published"),
        ((r.workflow, r.version, "yes" if r.active else "", f"{r.published_at:%Y-%m-%d %H:%M}") for r in rows),
        empty="nothing is published in this scope",
    )


def show(workflow: Named, scope: Scope = "default", database_url: DatabaseUrl = None, json: AsJson = False) -> None:
    """One version as its document: YAML for people, JSON for programs."""
    from orchestrator.core.document import document_of

    id, version = named(workflow)
    with opened(database_url) as orchestrator:
        document = document_of(orchestrator.definition(id, version, scope=scope))
    if json:
        tell_json(document)
        return
    import yaml

    typer.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True).rstrip())


def activate(workflow: Named, scope: Scope = "default", database_url: DatabaseUrl = None, json: AsJson = False) -> None:
    """Make a version the active one: new runs start with it."""
    id, version = named(workflow)
    if version is None:
        raise misused(f"say which version of {id!r} to activate: {id}@VERSION")
    with opened(database_url) as orchestrator:
        orchestrator.activate(id, version, scope=scope)
    if json:
        tell_json({"workflow": id, "version": version, "active": True})
    else:
        tell(f"{id}@{version} is active")


def deactivate(
    workflow: Annotated[str, typer.Argument(metavar="ID", help="A workflow.")],
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    json: AsJson = False,
) -> None:
    """Start no more runs of a workflow; those that exist go on."""
    with opened(database_url) as orchestrator:
        orchestrator.activate(workflow, None, scope=scope)
    if json:
        tell_json({"workflow": workflow, "version": None, "active": False})
    else:
        tell(f"{workflow} is not active any more")


def diagram(
    workflow: Named,
    run: Annotated[str | None, typer.Option(help="Colour it by this run.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw SVG into this file; left out: Mermaid on the output.")] = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    json: AsJson = False,
) -> None:
    """Draw a version, as Mermaid or SVG, coloured by a run's statuses."""
    from orchestrator.drawing.mermaid import mermaid
    from orchestrator.drawing.svg import svg as drawn
    from orchestrator.overlays import overlay_of

    id, version = named(workflow)
    with opened(database_url) as orchestrator:
        overlay = None
        definition = orchestrator.definition(id, version, scope=scope)
        if run is not None:
            state = orchestrator.state(run_id(orchestrator, run, scope), scope=scope)
            if state.definition.workflow != id or version not in (None, state.definition.version):
                about = f"{state.definition.workflow}@{state.definition.version}"
                raise Refused(f"the run {run!r} is one of {about}, not of {workflow}")
            definition, overlay = state.definition, overlay_of(state)
    if svg is not None:
        try:
            svg.write_text(drawn(definition, overlay), encoding="utf-8")
        except OSError as error:
            raise Refused(f"the file {str(svg)!r} cannot be written: {error.strerror}") from error
    if json:
        document = {"workflow": id, "version": definition.version}
        tell_json(document | ({"mermaid": mermaid(definition, overlay)} if svg is None else {"svg": str(svg)}))
    elif svg is None:
        typer.echo(mermaid(definition, overlay), nl=False)
    else:
        tell(f"drawn into {svg}")
