"""A shop whose customers look up their orders."""

import sqlite3


def open_shop():
    database = sqlite3.connect(":memory:")
    database.execute("create table orders (customer text, item text)")
    rows = [("ada", "lamp"), ("bob", "desk")]
    database.executemany("insert into orders values (?, ?)", rows)
    return database


def orders_of(database, customer):
    query = f"select item from orders where customer = '{customer}'"
    return [item for (item,) in database.execute(query)]
