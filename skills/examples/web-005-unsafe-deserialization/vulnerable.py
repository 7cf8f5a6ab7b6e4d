"""Shopping cart that is kept in a cookie."""

import base64
import binascii
import pickle

from flask import Flask, jsonify, request

app = Flask(__name__)

COOKIE = "cart"
MOST_ITEMS = 50


def load_cart():
    """Returns the cart of the request as a mapping from article to quantity."""
    raw = request.cookies.get(COOKIE)
    if raw is None or len(raw) > 8192:
        return {}
    try:
        cart = pickle.loads(base64.urlsafe_b64decode(raw))
    except (binascii.Error, pickle.UnpicklingError, EOFError):
        return {}
    if not isinstance(cart, dict):
        return {}
    return {str(article): int(quantity) for article, quantity in cart.items()}


def store_cart(response, cart):
    raw = base64.urlsafe_b64encode(pickle.dumps(cart)).decode()
    response.set_cookie(COOKIE, raw, httponly=True, secure=True, samesite="Lax")
    return response


@app.post("/cart/<article>")
def add(article):
    cart = load_cart()
    if article not in cart and len(cart) >= MOST_ITEMS:
        return jsonify(error="cart is full"), 400
    cart[article] = cart.get(article, 0) + 1
    return store_cart(jsonify(cart), cart)


if __name__ == "__main__":
    app.run()
