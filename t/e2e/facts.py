# SPDX-License-Identifier: ISC
"""Facts about a service: functions, or coroutines, named by the first lines of their docstrings.  tap_report reads what
tell prints: "ok NAME", or "failed NAME" and a line with the reason.  FACTS='NAME NAME' in the environment are the
only functions to try."""
import asyncio
import glob
import inspect
import os

FACTS = []


def fact(f):
    FACTS.append(f)
    return f


def same(got, expected):
    assert got == expected, f"got {str(got)[:2000]}, expected {str(expected)[:2000]}"


def tell(seconds=240):
    """Tries each fact, also after one that fails."""
    only = os.environ.get("FACTS", "").split()
    for f in FACTS:
        if only and f.__name__ not in only:
            continue
        why = ""
        try:
            if inspect.iscoroutinefunction(f):
                asyncio.run(asyncio.wait_for(f(), seconds))
            else:
                f()
        except Exception as e:
            why = f"{type(e).__name__}: {e}"
        print("ok" if not why else "failed", f.__doc__.splitlines()[0], flush=True)
        if why:
            print("why", why.replace("\n", " ")[:500], flush=True)


def children(pid):
    """The children of all threads of a process: websocketd starts helpers from any of them."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as f:
                found += [int(p) for p in f.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found
