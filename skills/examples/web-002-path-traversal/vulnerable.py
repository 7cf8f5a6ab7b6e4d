"""Download of monthly reports for accountants."""

from pathlib import Path

from flask import Flask, abort, send_file
from flask_login import LoginManager, current_user, login_required

app = Flask(__name__)
LoginManager(app)

REPORTS = Path("/srv/reports").resolve()


def report_path(company, name):
    """Returns the path of a report in the company's directory."""
    base = REPORTS / str(company)
    path = base / name
    if not path.is_file():
        abort(404)
    return path


@app.get("/reports")
@login_required
def listing():
    base = REPORTS / str(current_user.company_id)
    names = sorted(entry.name for entry in base.glob("*.pdf"))
    return {"reports": names}


@app.get("/reports/<path:name>")
@login_required
def download(name):
    path = report_path(int(current_user.company_id), name)
    return send_file(path, as_attachment=True, download_name=path.name)


if __name__ == "__main__":
    app.run()
