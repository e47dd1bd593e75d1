# SPDX-License-Identifier: MIT
"""One of three services of a shop, in Flask, as anybody would write them: service.py front|cart|pricing PORT.

Nothing here knows of tracing. POST /plant?quota=MS makes one tenant wait for its quota in cart."""
import os
import random
import sys
import time

import flask
import requests

NAME, PORT = sys.argv[1], int(sys.argv[2])
app = flask.Flask(NAME)
session = requests.Session()
planted = {"quota": 0.0}


def pause(low_ms, high_ms):
    time.sleep(random.uniform(low_ms, high_ms) / 1000)


def ask(url):
    return session.get(url, timeout=30).json()


def order(tenant):
    cart = ask(f"{os.environ['CART']}/cart/{tenant}")
    price = ask(f"{os.environ['PRICING']}/price/{cart['items']}")
    return {**cart, **price}


def list_orders():
    pause(5, 10)
    return flask.jsonify([])


def cart(tenant):
    pause(3, 6)
    ask(f"http://127.0.0.1:{PORT}/quota/{tenant}")
    return {"items": 3}


def quota(tenant):
    wait_ms = planted["quota"] if tenant == "acme" else 0
    pause(wait_ms / 2, wait_ms * 1.5)
    return {"granted": True}


def plant():
    planted["quota"] = float(flask.request.args["quota"])
    return planted


def price(items):
    pause(4, 8)
    return {"price": 10 * items}


if NAME == "front":
    app.add_url_rule("/order/<tenant>", view_func=order)
    app.add_url_rule("/list", view_func=list_orders)
elif NAME == "cart":
    app.add_url_rule("/cart/<tenant>", view_func=cart)
    app.add_url_rule("/quota/<tenant>", view_func=quota)
    app.add_url_rule("/plant", view_func=plant, methods=["POST"])
else:
    app.add_url_rule("/price/<int:items>", view_func=price)

if __name__ == "__main__":
    app.run("127.0.0.1", PORT, threaded=True)
