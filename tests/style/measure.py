#!/usr/bin/env python3
"""The shape of the source in numbers: lines, functions, comments, names, folders.

usage: measure.py [FOLDER]    FOLDER: a checkout (default: this one); prints a table beside the values of 3c66259

The parser relies on the format that clang-format gives: a function begins in the first column, its body is between a
"{" and a "}" in the first column. Tests, and testbeds, are counted by themselves.
"""

import collections
import os
import re
import statistics
import subprocess
import sys

# Of 3c66259, by this script.
BEFORE = {
    "code lines, without tests": 82434,
    "code lines of tests and testbeds": 59418,
    "source files, without tests": 578,
    "lines of a function: median": 8,
    "lines of a function: of 10, the one before the longest": 23,
    "lines of a function: most": 66,
    "nesting: most": 5,
    ".c files over 600 lines": 20,
    ".c files over 900 lines": 0,
    "functions of 20 lines and more without a comment, %": 49.931,
    "comment lines in bodies, of 100 lines": 1.1562,
    "the same where algorithms live": 1.4062,
    "static functions with a name of one word, %": 27.104,
    "static names that several files have, %": 40.431,
    "documented prototypes, %": 93.925,
    "folders of more than 15 .c files": 8,
}

WORD = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")


def split_code_and_comments(text):
    """For each line of a source: has it code, and the text of its comment."""
    code, comment, inside = [], [], False
    for line in text.split("\n"):
        rest, kept, said = line, "", ""
        while rest:
            if inside:
                end = rest.find("*/")
                said += rest if end < 0 else rest[:end]
                rest = "" if end < 0 else rest[end + 2 :]
                inside = end < 0
                continue
            match = re.search(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//|/\*', rest)
            if not match:
                kept += rest
                break
            kept += rest[: match.start()]
            if match.group() == "//":
                said += rest[match.end() :]
                break
            if match.group() == "/*":
                inside = True
            else:
                kept += match.group()
            rest = rest[match.end() :]
        code.append(bool(kept.strip()))
        comment.append(said.strip())
    return code, comment


class Function:
    """One definition: its name, lines of the body, deepest nesting, and comment lines in and above it."""

    def __init__(self, name, static, parameters, lines, nesting, inside, above):
        self.name, self.static, self.parameters = name, static, parameters
        self.lines, self.nesting, self.inside, self.above = lines, nesting, inside, above


def find_functions(text):
    lines = text.split("\n")
    code, comment = split_code_and_comments(text)
    found = []
    for begin, line in enumerate(lines):
        if line != "{":
            continue
        end = begin
        while end < len(lines) and lines[end] != "}":
            end += 1
        head = begin - 1
        while head > 0 and lines[head - 1].strip() and code[head - 1] and not lines[head - 1].startswith(("#", "}")):
            head -= 1
        declaration = re.sub(r"__attribute__\(\(.*?\)\)\s*", "", " ".join(lines[head:begin]))
        match = re.match(r"^([\w\s*()\",]*?)\b(\w+)\((.*)\)\s*$", declaration)
        if not match:
            continue
        nesting = depth = 0
        for text in lines[begin + 1 : end]:
            if re.match(r"\s*(if|for|while|switch|do|else|\} else)\b", text):
                nesting = max(nesting, depth + 1)
            depth += text.count("{") - text.count("}")
        parameters = 0 if match.group(3).strip() in ("", "void") else match.group(3).count(",") + 1
        inside = sum(1 for text in comment[begin + 1 : end] if text)
        found.append(Function(match.group(2), "static" in match.group(1), parameters, end - begin - 1, nesting, inside,
                              bool(head > 0 and comment[head - 1])))
    return found


def find_prototypes(text):
    """Declarations of functions in a header, with whether a comment is above, or above its block."""
    lines, found = text.split("\n"), []
    _, comment = split_code_and_comments(text)
    at = 0
    while at < len(lines):
        line = lines[at]
        if re.match(r"^[A-Za-z_][\w\s*]*\(?", line) and not line.startswith(("#", "typedef", "struct pythia")) or \
           re.match(r"^(const )?struct \w+ \*?\w+\(", line):
            whole, end = line, at
            while ";" not in whole and "{" not in whole and end + 1 < len(lines):
                end += 1
                whole += " " + lines[end].strip()
            if re.match(r"^[\w\s*]+\b\w+\(.*\)[^{]*;", whole) and not whole.startswith("static"):
                above = at
                while above > 0 and lines[above - 1].strip() and not comment[above - 1]:
                    above -= 1
                found.append(bool(above > 0 and comment[above - 1]) or bool(comment[at]))
            at = end
        at += 1
    return found


def share(part, whole):
    return 100 * part / whole if whole else 0


def measure(folder):
    paths = subprocess.run(["git", "-C", folder, "ls-files", "*.c", "*.h", "*.cpp"], capture_output=True, text=True, check=True).stdout.split()
    ours = [path for path in paths if not path.startswith("tests/") and "testbeds" not in path]
    texts = {}
    for path in paths:
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            texts[path] = file.read()
    code = {path: sum(split_code_and_comments(text)[0]) for path, text in texts.items()}
    functions = {path: find_functions(texts[path]) for path in ours if path.endswith(".c")}
    every = [one for found in functions.values() for one in found]
    long = [one for one in every if one.lines >= 20]
    statics = [one.name for one in every if one.static]
    files_of = collections.Counter(name for found in functions.values() for name in {one.name for one in found if one.static})
    prototypes = [one for path in ours if path.endswith(".h") for one in find_prototypes(texts[path])]
    body = sum(one.lines for one in every)
    algorithms = [one for path, found in functions.items()
                  if path.startswith(("search/", "stats/", "engine/trace/", "engine/core/cycle/")) for one in found]
    folders = collections.Counter(os.path.dirname(path) for path in ours if path.endswith(".c"))
    lengths = sorted(one.lines for one in every)
    return [
        ("code lines, without tests", sum(code[path] for path in ours)),
        ("code lines of tests and testbeds", sum(code[path] for path in paths if path not in ours)),
        ("source files, without tests", len(ours)),
        ("lines of a function: median", statistics.median(lengths)),
        ("lines of a function: of 10, the one before the longest", lengths[len(lengths) * 9 // 10]),
        ("lines of a function: most", lengths[-1]),
        ("nesting: most", max(one.nesting for one in every)),
        (".c files over 600 lines", sum(1 for path in ours if path.endswith(".c") and texts[path].count("\n") > 600)),
        (".c files over 900 lines", sum(1 for path in ours if path.endswith(".c") and texts[path].count("\n") > 900)),
        ("functions of 20 lines and more without a comment, %", share(sum(1 for one in long if not one.inside and not one.above), len(long))),
        ("comment lines in bodies, of 100 lines", share(sum(one.inside for one in every), body)),
        ("the same where algorithms live", share(sum(one.inside for one in algorithms), sum(one.lines for one in algorithms))),
        ("static functions with a name of one word, %", share(sum(1 for name in statics if "_" not in name), len(statics))),
        ("static names that several files have, %", share(sum(1 for name in statics if files_of[name] > 1), len(statics))),
        ("documented prototypes, %", share(sum(prototypes), len(prototypes))),
        ("folders of more than 15 .c files", sum(1 for count in folders.values() if count > 15)),
    ]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    rows = measure(folder)
    print(f"{'':58} {'3c66259':>8} {'now':>8}")
    for name, value in rows:
        print(f"{name:58} {BEFORE.get(name, float('nan')):8.5g} {value:8.5g}")


if __name__ == "__main__":
    main()
