#!/usr/bin/env python3
"""Requests to the shop, open loop: load.py URL RATE SECONDS. Of three tenants, and one request in four is GET /list."""
import itertools
import sys
import threading
import time
import urllib.request


def ask(url):
    try:
        urllib.request.urlopen(url, timeout=30).read()
    except OSError as why:
        print(why, file=sys.stderr)


def main():
    url, rate, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    begun = time.monotonic()
    for number in itertools.count():
        at = begun + number / rate
        if at > begun + seconds:
            break
        time.sleep(max(0, at - time.monotonic()))
        path = "/list" if number % 4 == 3 else "/order/" + ("acme", "initech", "umbrella")[number % 3]
        threading.Thread(target=ask, args=(url + path,), daemon=True).start()
    time.sleep(1)


if __name__ == "__main__":
    main()
