"""The data set: what is read, and that a fault in a file is told with its place and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import Reason, Rejected
from orchestrator.flagship.dataset import OWN_DATA, DataSet, read_data
from orchestrator.flagship.tables import MOST_FAULTS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the own data that a test may spoil."""
    return Path(shutil.copytree(OWN_DATA, tmp_path / "data"))


def rewritten(file: Path, change: Callable[[str], str]) -> None:
    """Change the text of a file."""
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


def reasons(folder: Path) -> list[Reason]:
    """Why a folder is refused."""
    with pytest.raises(Rejected) as refusal:
        read_data(folder)
    return refusal.value.reasons


def shape(data: DataSet) -> tuple[int, int, int, int]:
    """Unshipped orders, their lines, how many of those the stock covers, and orders it covers wholly."""
    orders = data.unshipped
    lines = [line for order in orders for line in order.lines]
    return (
        len(orders),
        len(lines),
        sum(line.quantity <= line.product.in_stock for line in lines),
        sum(all(line.quantity <= line.product.in_stock for line in order.lines) for order in orders),
    )


def test_the_own_data_has_what_a_demo_needs() -> None:
    data = read_data(OWN_DATA)
    assert (8, 21, 17, 5) == shape(data)
    assert 10 == len(data.orders)
    assert "Dunes, Dining by the Sea" == data.orders["5006"].customer
    assert "Canal & Rail Freight" == data.orders["5006"].shipper


def test_northwind_is_read_whole(cases: Path) -> None:
    data = read_data(cases / "northwind")
    assert (21, 73, 56, 10) == shape(data)
    assert (830, 77) == (len(data.orders), len(data.products))


def test_three_files_are_enough(folder: Path) -> None:
    for name in ("customers.csv", "shippers.csv"):
        (folder / name).unlink()
    order = read_data(folder).orders["5006"]
    assert ("Dunes, Dining by the Sea", "2", "Texel, Netherlands") == (order.customer, order.shipper, order.destination)


def test_columns_may_stand_in_any_order_with_others_between_and_blanks_around(folder: Path) -> None:
    (folder / "products.csv").write_text("\ufeff UnitsInStock , Colour,ProductID\n 7 ,red, 1 \n\n", encoding="utf-8")
    (folder / "orders.csv").write_text("OrderID,ShippedDate,CustomerID\nA,  ,X\n", encoding="utf-8")
    (folder / "order_lines.csv").write_text("Quantity,ProductID,OrderID\r\n7,1,A\r\n", encoding="utf-8")
    (order,) = read_data(folder).unshipped
    assert ("A", "X", 7, 7) == (order.id, order.customer, order.lines[0].quantity, order.lines[0].product.in_stock)


def test_an_order_without_lines_is_an_order(folder: Path) -> None:
    rewritten(folder / "order_lines.csv", lambda text: text.replace("5006,6,12.00,15,0.0\n", ""))
    assert () == read_data(folder).orders["5006"].lines


def test_a_file_that_changes_is_read_again(folder: Path) -> None:
    before = read_data(folder).products["1"].in_stock
    rewritten(folder / "products.csv", lambda text: text.replace("14.40,60,", "14.40,6,"))
    assert (60, 6) == (before, read_data(folder).products["1"].in_stock)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    (reason,) = reasons(tmp_path / "nowhere")
    assert ("MissingFolder", str(tmp_path / "nowhere")) == (reason.kind, reason.where)
    assert "orders.csv" in reason.message
    (tmp_path / "file").write_text("")
    assert "is a file, not a folder" in reasons(tmp_path / "file")[0].message


def test_missing_files_are_named_together_and_nothing_follows_from_them(folder: Path) -> None:
    (folder / "orders.csv").unlink()
    (folder / "products.csv").unlink()
    assert [("MissingFile", "products.csv"), ("MissingFile", "orders.csv")] == [
        (reason.kind, reason.where) for reason in reasons(folder)
    ]


def test_a_missing_column_is_named_beside_those_that_are_there(folder: Path) -> None:
    rewritten(folder / "orders.csv", lambda text: text.replace("ShippedDate", "Shipped"))
    (reason,) = reasons(folder)
    assert ("MissingColumn", "orders.csv line 1") == (reason.kind, reason.where)
    assert "no column ShippedDate" in reason.message
    assert "RequiredDate, Shipped, ShipVia" in reason.message


def test_a_column_that_stands_there_twice_is_refused(folder: Path) -> None:
    rewritten(folder / "orders.csv", lambda text: text.replace("ShipCity", "Freight"))
    assert ["RepeatedColumn"] == [reason.kind for reason in reasons(folder)]


@pytest.mark.parametrize(
    "quantity",
    ("many", "", "-1", "0", "1.5", "12.0", "1e3", "0x10", "٣", "²", "2147483648", "9" * 50, "1_000", "NaN"),
)
def test_a_quantity_that_is_no_whole_number_is_named_by_file_line_and_column(folder: Path, quantity: str) -> None:
    rewritten(folder / "order_lines.csv", lambda text: text.replace("5002,5,22.80,14,", f"5002,5,22.80,{quantity},"))
    (reason,) = reasons(folder)
    assert ("BadNumber", "order_lines.csv line 5, column Quantity") == (reason.kind, reason.where)
    assert "; write a whole number from 1 to 2,147,483,647 in digits alone" in reason.message


def test_a_large_quantity_is_a_quantity(folder: Path) -> None:
    rewritten(folder / "order_lines.csv", lambda text: text.replace("5002,5,22.80,14,", "5002,5,22.80,2147483647,"))
    assert 2147483647 == read_data(folder).orders["5002"].lines[1].quantity


@pytest.mark.parametrize(
    ("row", "kind", "column"),
    (
        ("5002,2,9.50,1,0.0", "DuplicateLine", "ProductID"),
        ("9999,2,9.50,1,0.0", "UnknownOrder", "OrderID"),
        ("5002,99,9.50,1,0.0", "UnknownProduct", "ProductID"),
        (",2,9.50,1,0.0", "BadId", "OrderID"),
        (f"5002,{'x' * 256},9.50,1,0.0", "BadId", "ProductID"),
    ),
)
def test_a_line_that_does_not_fit_is_named(folder: Path, row: str, kind: str, column: str) -> None:
    rewritten(folder / "order_lines.csv", lambda text: f"{text}{row}\n")
    (reason,) = reasons(folder)
    assert (kind, f"order_lines.csv line 26, column {column}") == (reason.kind, reason.where)


def test_orders_and_products_stand_there_once(folder: Path) -> None:
    rewritten(folder / "orders.csv", lambda text: text + text.splitlines()[-1] + "\n")
    rewritten(folder / "products.csv", lambda text: text + text.splitlines()[-1] + "\n")
    assert [
        ("DuplicateProduct", "products.csv line 12, column ProductID"),
        ("DuplicateOrder", "orders.csv line 12, column OrderID"),
    ] == [(reason.kind, reason.where) for reason in reasons(folder)]


def test_a_row_with_cells_too_few_or_too_many_is_named(folder: Path) -> None:
    rewritten(folder / "order_lines.csv", lambda text: f"{text}5002,3\n5002,1,1,1,1,1\n")
    assert ["order_lines.csv line 26", "order_lines.csv line 27"] == [reason.where for reason in reasons(folder)]


def test_a_quote_that_is_not_closed_is_named(folder: Path) -> None:
    rewritten(folder / "customers.csv", lambda text: text + '"Open\n')
    assert [("BadRow", "customers.csv line 9")] == [(reason.kind, reason.where) for reason in reasons(folder)]


@pytest.mark.parametrize(("content", "kind"), ((b"", "EmptyFile"), (b"\xff\xfe", "BadText"), (b"OrderID\0", "BadText")))
def test_a_file_that_is_no_text_is_named(folder: Path, content: bytes, kind: str) -> None:
    (folder / "orders.csv").write_bytes(content)
    assert [(kind, "orders.csv")] == [(reason.kind, reason.where) for reason in reasons(folder)]


def test_of_many_faults_the_first_are_told_and_the_rest_is_counted(folder: Path) -> None:
    rewritten(folder / "order_lines.csv", lambda text: text + "5002,1,1,none,0\n" * 100)
    told = reasons(folder)
    assert MOST_FAULTS + 1 == len(told)
    assert "and 179 more; mend these first" == told[-1].message
