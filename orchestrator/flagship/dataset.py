"""Orders, their lines and the products, from CSV files in the Northwind layout. What is done with them is not here.

`orders.csv`, `order_lines.csv` and `products.csv` are needed; `customers.csv` and `shippers.csv` give names where they
are there. Other files and other columns are ignored. An order without lines is an order: its run has nothing to ship.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from orchestrator.core.data import printable
from orchestrator.core.ids import id_problem
from orchestrator.errors import Reason, Rejected
from orchestrator.flagship.tables import Faults, Row, number, read_table

#: The small data set that is shipped.
OWN_DATA: Final = Path(__file__).resolve().parent / "data"

_FILES: Final = ("orders.csv", "order_lines.csv", "products.csv", "customers.csv", "shippers.csv")


@dataclass(frozen=True, slots=True)
class Product:
    """What can be ordered."""

    id: str
    name: str
    in_stock: int


@dataclass(frozen=True, slots=True)
class Line:
    """So much of one product in an order."""

    product: Product
    quantity: int


@dataclass(frozen=True, slots=True)
class Order:
    """What a customer ordered."""

    id: str
    customer_id: str
    #: The customer's name, or the id where no name is known.
    customer: str
    shipper: str
    destination: str
    shipped: bool
    #: In the order of the file.
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class DataSet:
    """All orders of a folder by their id, in the order of the file."""

    folder: Path
    orders: Mapping[str, Order]
    products: Mapping[str, Product]

    @property
    def unshipped(self) -> tuple[Order, ...]:
        """The orders without a shipped date."""
        return tuple(order for order in self.orders.values() if not order.shipped)


def read_data(folder: Path) -> DataSet:
    """The data set of a folder; read again only when a file of it has changed. Raises `Rejected` with every fault."""
    place = folder.expanduser().resolve()
    if not place.is_dir():
        what = "is a file, not a folder" if place.exists() else "does not exist"
        message = f"the folder {what}; name one that holds {', '.join(_FILES[:3])}"
        raise Rejected([Reason("MissingFolder", str(folder), message)])
    return _read(place, tuple(_stamp(place / name) for name in _FILES))


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _read(folder: Path, _stamps: tuple[tuple[int, int] | None, ...]) -> DataSet:
    faults = Faults()
    products = _products(folder, faults)
    orders = _orders(folder, faults)
    lines = _lines(folder, orders, products, faults)
    customers = _names(folder, "customers.csv", "CustomerID", faults)
    shippers = _names(folder, "shippers.csv", "ShipperID", faults)
    faults.check()
    return DataSet(
        folder,
        {id: _order(row, customers, shippers, tuple(lines[id].values())) for id, row in orders.items()},
        products,
    )


def _order(row: Row, customers: Mapping[str, str], shippers: Mapping[str, str], lines: tuple[Line, ...]) -> Order:
    customer = row["CustomerID"]
    return Order(
        id=row["OrderID"],
        customer_id=customer,
        customer=customers.get(customer) or row["ShipName"] or customer,
        shipper=shippers.get(row["ShipVia"]) or row["ShipVia"] or "the carrier",
        destination=", ".join(filter(None, (row["ShipCity"], row["ShipCountry"]))),
        shipped=bool(row["ShippedDate"]),
        lines=lines,
    )


def _products(folder: Path, faults: Faults) -> dict[str, Product]:
    found: dict[str, Product] = {}
    for row in read_table(folder / "products.csv", ("ProductID", "UnitsInStock"), faults):
        id = _id(row, "ProductID", faults)
        in_stock = number(row, "UnitsInStock", faults, least=0)
        if id in found:
            faults.add("DuplicateProduct", row.place("ProductID"), f"the product {id!r} stands there twice; keep one")
        elif id is not None:
            found[id] = Product(id, row["ProductName"] or id, in_stock or 0)
    return found


def _orders(folder: Path, faults: Faults) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in read_table(folder / "orders.csv", ("OrderID", "CustomerID", "ShippedDate"), faults):
        id = _id(row, "OrderID", faults)
        _id(row, "CustomerID", faults)
        if id in found:
            faults.add("DuplicateOrder", row.place("OrderID"), f"the order {id!r} stands there twice; keep one")
        elif id is not None:
            found[id] = row
    return found


def _lines(
    folder: Path, orders: Mapping[str, Row], products: Mapping[str, Product], faults: Faults
) -> dict[str, dict[str, Line]]:
    """By order and product. Faults that only follow from a file that could not be read are left out."""
    found: dict[str, dict[str, Line]] = {id: {} for id in orders}
    for row in read_table(folder / "order_lines.csv", ("OrderID", "ProductID", "Quantity"), faults):
        order, product = _id(row, "OrderID", faults), _id(row, "ProductID", faults)
        quantity = number(row, "Quantity", faults, least=1)
        if order is None or product is None:
            continue
        if order not in found:
            if orders:
                faults.add("UnknownOrder", row.place("OrderID"), f"orders.csv has no order {order!r}; add it there")
        elif product in found[order]:
            faults.add(
                "DuplicateLine",
                row.place("ProductID"),
                f"the order {order!r} has a line for product {product!r} already; add the quantities up in one line",
            )
        elif product in products:
            found[order][product] = Line(products[product], quantity or 0)
        elif products:
            faults.add(
                "UnknownProduct", row.place("ProductID"), f"products.csv has no product {product!r}; add it there"
            )
    return found


def _names(folder: Path, file: str, column: str, faults: Faults) -> dict[str, str]:
    if not (folder / file).exists():
        return {}
    return {row[column]: row["CompanyName"] for row in read_table(folder / file, (column, "CompanyName"), faults)}


def _id(row: Row, column: str, faults: Faults) -> str | None:
    """The id in a cell; it becomes a subject, a run's key or a branch's key."""
    if (problem := id_problem(row[column])) is None:
        return row[column]
    faults.add("BadId", row.place(column), f"{printable(row[column], 40)!r} cannot be an id: it {problem}")
    return None
