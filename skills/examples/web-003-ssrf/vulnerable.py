"""Calendar import: users give the URL of a public iCalendar feed."""

import requests
from flask import Flask, jsonify, request
from flask_login import LoginManager, login_required

app = Flask(__name__)
LoginManager(app)

LARGEST_FEED = 1_000_000


def fetch_feed(url):
    """Returns the text of the feed."""
    with requests.get(url, timeout=10, stream=True) as answer:
        answer.raise_for_status()
        body = answer.raw.read(LARGEST_FEED + 1, decode_content=True)
    if len(body) > LARGEST_FEED:
        raise ValueError("feed is larger than 1 MB")
    return body.decode("utf-8", errors="replace")


def events_in(text):
    return [line[8:].strip() for line in text.splitlines() if line.startswith("SUMMARY:")]


@app.post("/calendar/preview")
@login_required
def preview():
    url = request.get_json()["url"]
    try:
        text = fetch_feed(url)
    except (ValueError, requests.RequestException) as error:
        return jsonify(error=str(error)), 400
    return jsonify(events=events_in(text), raw=text[:2000])


if __name__ == "__main__":
    app.run()
