"""Values of a test that are not what they are said to be.

A number of a class of the test's own whose sum is another than that of its number makes any code
wrong. One that counts, or notes what it is asked for, answers as its class above it does.
"""

KINDS = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
OPERATORS = frozenset(
    "__%s__" % name
    for name in (
        "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos abs "
        "and rand or ror xor rxor lshift rshift eq ne lt le gt ge bool int float index round "
        "len contains getitem"
    ).split()
)
LIES = []


def follow(frame):
    """Watches an operator that the code has asked for, if it stands in for one of the language."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount]
    values = [frame.f_locals.get(name) for name in names]
    kind = next((it for it in type(values[0]).__mro__ if it in KINDS), None) if values else None
    if kind is None or not hasattr(kind, code.co_name):
        return None
    raised = []

    def watch(frame, event, answer):
        if event == "exception":
            raised.append(answer)
        if event == "return" and not raised and differs(kind, code.co_name, values, answer):
            LIES.append("%s.%s" % (type(values[0]).__name__, code.co_name))
        return watch

    return watch


def differs(kind, name, values, answer):
    # Of two such values neither is plain.
    plain = [it for it in values[1:] if type(it) in (*KINDS, type(None), slice)]
    if len(plain) != len(values) - 1:
        return False
    try:
        right = getattr(kind, name)(*values)
        return right is not NotImplemented and bool(right != answer)
    except Exception:
        return False
