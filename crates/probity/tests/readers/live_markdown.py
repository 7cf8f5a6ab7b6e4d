"""What forges would make a link, a mention or a reference of, in the text of a comment.

A CommonMark parser with GFM's tables says what is text and what is code. Forges look for the rest in
the text of the page that comes out, so that is where it is looked for here, by their own rules.
"""

import json
import re
import sys

from markdown_it import MarkdownIt

FORGES = {
    # GFM: extended autolinks, and addresses of mail.
    "url": r"(?i)(?:https?|ftp|[a-z][a-z0-9+.-]*)://\S|\bwww\.\S",
    "mail": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*",
    # Readers that link a bare host.
    "host": r"(?i)[a-z0-9-]\.[a-z]{2,}",
    "mention": r"@[\w-]",
    # GitHub, GitLab, Gitea, Bitbucket and Azure.
    "reference": r"(?:[#!$&%~^])(?:[\w\"'])",
    "key": r"\b[A-Z][A-Z0-9]+-\d",
    "commit": r"(?i)\b[0-9a-f]{7,64}\b",
}

tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(sys.stdin.read())
found = []
for block in tokens:
    if block.type == "html_block" and "probity:" not in block.content:
        tags = re.sub(r"</?(?:details|summary)>", "", block.content).strip()
        if re.search(r"[<>@#:]", tags):
            found.append(["html", block.content])
    text = ""
    for token in block.children or []:
        if token.type in ("link_open", "image", "html_inline"):
            found.append([token.type, token.content or token.attrs.get("href", "")])
        # A reader sees no border between a letter and one that was escaped.
        text += token.content if token.type in ("text", "text_special") else "\n"
    for name, pattern in FORGES.items():
        if re.search(pattern, text):
            found.append([name, text])
json.dump(found, sys.stdout)
