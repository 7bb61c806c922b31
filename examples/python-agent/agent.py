#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A shopping list: "add milk", "list", and "clear", which asks first.

The state comes as one line of JSON on standard input; each line written to standard output is a JSON object that says
something, changes the state, or asks.  Only Python's standard library is needed.
"""

import json
import sys

state = json.loads(sys.stdin.readline())
answers = iter(state["answers"])


def emit(kind, value):
    print(json.dumps({kind: value}), flush=True)


def say(text):
    """Streams the text word by word; the pieces become one message."""
    words = text.split(" ")
    for i, word in enumerate(words):
        emit("delta", word if i == 0 else " " + word)


def ask(value):
    """Asks a person.

    The first time there is no answer: the run pauses and the program ends.  When the run is resumed the program starts
    again, comes to this place again, and finds the answer.  None means that the question was cancelled.
    """
    emit("interrupt", {"reason": "approval", "value": value})
    for answer in answers:
        return answer
    sys.exit(0)


def add(items, item):
    emit("update", {"items": items + [item]})
    say(f"Noted: {item}. That makes {len(items) + 1}.")


def clear(items):
    answer = ask({"question": f"Throw away a list of {len(items)}?", "items": items})
    if answer in (True, "yes"):
        emit("update", {"items": []})
        say("The list is empty now.")
    else:
        say("The list stays as it is.")


def main():
    items = state["items"]
    command, _, rest = state["user_text"].strip().partition(" ")
    if command == "add" and rest:
        add(items, rest)
    elif command == "list":
        say("To buy: " + ", ".join(items) if items else "Nothing to buy.")
    elif command == "clear":
        clear(items)
    else:
        say("Say add THING, list, or clear.")


main()
