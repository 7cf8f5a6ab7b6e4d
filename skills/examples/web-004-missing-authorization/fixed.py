"""Invoices of a billing service."""

from flask import Flask, abort, jsonify
from flask_login import LoginManager, current_user, login_required
from flask_sqlalchemy import SQLAlchemy

app = Flask(__name__)
app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite:///billing.db"
LoginManager(app)
db = SQLAlchemy(app)


class Invoice(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    account_id = db.Column(db.Integer, nullable=False)
    amount = db.Column(db.Integer, nullable=False)
    address = db.Column(db.String(400), nullable=False)

    def as_dict(self):
        return {"id": self.id, "amount": self.amount, "address": self.address}


@app.get("/invoices")
@login_required
def listing():
    own = Invoice.query.filter_by(account_id=current_user.account_id)
    return jsonify(invoices=[invoice.as_dict() for invoice in own])


@app.get("/invoices/<int:number>")
@login_required
def show(number):
    invoice = db.session.get(Invoice, number)
    if invoice is None or invoice.account_id != current_user.account_id:
        abort(404)
    return jsonify(invoice.as_dict())


if __name__ == "__main__":
    app.run()
