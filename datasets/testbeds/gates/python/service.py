# SPDX-License-Identifier: MIT
"""One of three services that look into a database for each request: service.py front|cart|ledger PORT.

Flask, requests and sqlite3, as anybody would write them; nothing here knows of tracing. front asks cart (CART), which asks ledger
(LEDGER). POST /plant?ms=MS makes an UPDATE in this service slow for one tenant."""
import logging
import os
import sqlite3
import sys
import time

import flask
import requests

NAME, PORT = sys.argv[1], int(sys.argv[2])
NEXT = {'front': os.environ.get('CART'), 'cart': os.environ.get('LEDGER')}.get(NAME)
app = flask.Flask(NAME)
session = requests.Session()
planted = {'ms': 0.0}

PREPARE = ('CREATE TABLE items (tenant TEXT, amount INTEGER, price REAL DEFAULT 1)', 'PRAGMA cache_size', 'ALTER TABLE items ADD note TEXT',
           'BEGIN', "INSERT INTO items (tenant, amount) VALUES ('acme', 3), ('initech', 2)", 'SAVEPOINT reserved',
           "REPLACE INTO items (rowid, tenant, amount) VALUES (9, 'umbrella', 1)", 'RELEASE reserved', 'COMMIT')
FINISH = ('SELECT count(*) FROM items', 'WITH cheap AS (SELECT * FROM items WHERE price < 5) SELECT * FROM cheap', 'VALUES (1)',
          'EXPLAIN SELECT * FROM items', 'ANALYZE', 'REINDEX', 'DELETE FROM items WHERE amount = 0', 'DROP TABLE items')


def pause(ms):
    time.sleep(ms / 1000)
    return 1


def look_up(tenant):
    """The tenant's items: a database of its own for each request, so that requests do not wait for each other."""
    connection = sqlite3.connect(':memory:', isolation_level=None)
    connection.create_function('pause', 1, pause)
    cursor = connection.cursor()
    for statement in PREPARE:
        cursor.execute(statement)
    slow_ms = planted['ms'] if tenant == 'acme' else 0
    cursor.execute('UPDATE items SET price = price + pause(?) WHERE tenant = ?', (slow_ms, tenant))
    for statement in FINISH:
        cursor.execute(statement)
    connection.close()


def ask_next(tenant):
    return session.get(f'{NEXT}/look/{tenant}', timeout=30).json() if NEXT else {}


@app.get('/order/<tenant>')
def order(tenant):
    look_up(tenant)
    return ask_next(tenant)


@app.get('/look/<tenant>')
def look(tenant):
    look_up(tenant)
    return {'items': 3, **ask_next(tenant)}


@app.get('/list')
def list_orders():
    pause(5)
    return flask.jsonify([])


@app.post('/plant')
def plant():
    planted['ms'] = float(flask.request.args['ms'])
    return planted


if __name__ == '__main__':
    logging.getLogger('werkzeug').setLevel(logging.ERROR)
    app.run('127.0.0.1', PORT, threaded=True)
