"""Order search of a small shop."""

import sqlite3

from flask import Flask, g, jsonify, request

app = Flask(__name__)
DATABASE = "shop.db"


def connection():
    if "connection" not in g:
        g.connection = sqlite3.connect(DATABASE)
        g.connection.row_factory = sqlite3.Row
    return g.connection


@app.teardown_appcontext
def close(_error):
    opened = g.pop("connection", None)
    if opened is not None:
        opened.close()


def orders_of(customer, term):
    """Returns the customer's orders whose title contains the term."""
    query = (
        "SELECT id, title, total FROM orders "
        f"WHERE customer = {customer} AND title LIKE '%{term}%' ORDER BY id DESC"
    )
    return connection().execute(query).fetchall()


@app.get("/customers/<int:customer>/orders")
def search(customer):
    term = request.args.get("q", "")
    if len(term) > 80:
        return jsonify(error="search term is too long"), 400
    rows = orders_of(customer, term)
    return jsonify(orders=[dict(row) for row in rows])


if __name__ == "__main__":
    app.run()
