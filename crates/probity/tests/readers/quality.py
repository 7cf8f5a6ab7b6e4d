"""One issue of Code Climate's specification, for the two readers that meet it."""

SEVERITIES = {"info", "minor", "major", "critical", "blocker"}
CATEGORIES = {
    "Bug Risk",
    "Clarity",
    "Compatibility",
    "Complexity",
    "Duplication",
    "Performance",
    "Security",
    "Style",
}


def finding(issue):
    assert issue["type"] == "issue", issue
    assert issue["severity"] in SEVERITIES, issue
    assert issue["categories"] and CATEGORIES.issuperset(issue["categories"]), issue
    lines = issue["location"]["lines"]
    assert 1 <= lines["begin"] <= lines["end"], issue
    return {
        "path": issue["location"]["path"],
        "line": lines["begin"],
        "severity": issue["severity"],
        "rule": issue["check_name"],
        "message": issue["description"],
    }
