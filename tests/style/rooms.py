#!/usr/bin/env python3
"""No circles: between source files, by the symbols of their objects; between folders, by symbols and includes.

usage: rooms.py BUILD           fails on a circle, on a folder of more than 15 .c files, and if the drawing in
                                ARCHITECTURE.md is not that of the build
       rooms.py --write BUILD   writes the drawing: folders by floor, each of which uses only lower ones
"""

import collections
import os
import re
import subprocess
import sys
import textwrap

FILES_MAX = 15  # .c files in a folder
MARK = "<!-- drawn by tests/style/rooms.py -->\n```\n"

KNOWN_CIRCLES = [
    # The first span of a process begins its recording, which measures what a span costs and defines the points.
    {"tracepoints/record/" + name + ".c" for name in ("cost", "points", "process", "tracepoint", "variable")},
]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def list_sources():
    """All sources of the product, without tests and testbeds."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in ("build", "tests", "testbeds")]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in files if name.endswith((".c", ".h"))]
    return sorted(found)


def read_symbols(build, sources):
    """What each file defines and uses: the objects of a build, by the source that they were made of."""
    defined, used, objects = {}, collections.defaultdict(set), {}
    for folder, _, files in os.walk(build):
        for name in files:
            match = re.match(r"(.*)/CMakeFiles/[^/]+\.dir/(.*)\.o$", os.path.relpath(os.path.join(folder, name), build))
            source = os.path.normpath("/".join(match.groups())) if match else None
            if source in sources:
                objects[os.path.join(folder, name)] = source
    # One process for all: each line begins with the name of the object.
    text = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        path, _, rest = line.partition(":")
        kind, symbol = rest.split()[-2:]
        if kind in "TDBRC":
            defined[symbol] = objects[path]
        elif kind == "U":
            used[objects[path]].add(symbol)
    calls = collections.defaultdict(lambda: collections.defaultdict(list))
    for source, symbols in used.items():
        for symbol in sorted(symbols):
            target = defined.get(symbol)
            if target and target != source:
                calls[source][target].append(symbol)
    return calls


def find_circles(graph):
    """Strongly connected parts of more than one node (Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM
    Journal on Computing, 1972)."""
    number, low, stack, circles = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                circles.append(set(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in number:
            visit(node)
    return circles


def room_of(path, rooms):
    """The folder of a file. A public header is of the room that has the .c file of its name."""
    if "/include/" not in path:
        return os.path.dirname(path)
    base, stem = path.split("/include/")[0], os.path.basename(path)[:-2]
    return rooms.get((base, stem), base + "/include")


def find_rooms(sources):
    rooms = {}
    for path in sources:
        if path.endswith(".c"):
            folder = os.path.dirname(path)
            for depth in range(folder.count("/") + 1):
                base = folder.rsplit("/", depth)[0]
                rooms.setdefault((base, os.path.basename(path)[:-2]), folder)
    return rooms


def read_includes(sources):
    """Pairs of a file and one that it includes."""
    public = {os.path.basename(path): path for path in sources if "/include/pythia/" in path}
    known = set(sources)
    for path in sources:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            names = re.findall(r'^\s*#\s*include "([^"]+)"', file.read(), re.M)
        for name in names:
            target = public.get(name[7:]) if name.startswith("pythia/") else None
            folder = os.path.dirname(path)
            while not target and not name.startswith("pythia/"):
                candidate = os.path.normpath(os.path.join(folder, name))
                target = candidate if candidate in known else None
                if not folder:
                    break
                folder = os.path.dirname(folder)
            if target:
                yield path, target


def draw(graph, rooms):
    """The folders by floor; one is a floor above the highest that it uses."""
    floors = {}

    def floor_of(room):
        if room not in floors:
            floors[room] = 1 + max((floor_of(other) for other in graph.get(room, ())), default=-1)
        return floors[room]

    for room in rooms:
        floor_of(room)
    lines = []
    for floor in sorted(set(floors.values()), reverse=True):
        names = sorted(room for room in floors if floors[room] == floor)
        text = textwrap.fill("  ".join(names), 114, break_on_hyphens=False, break_long_words=False)
        lines += textwrap.indent(text, "     ").replace("    ", f"{floor:4}", 1).splitlines()
    return "\n".join(lines)


def check_drawing(drawing, write):
    """Whether ARCHITECTURE.md has the drawing, between its marks."""
    path = os.path.join(ROOT, "ARCHITECTURE.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin = text.index(MARK) + len(MARK)
    end = text.index("```", begin)
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[:begin] + drawing + "\n" + text[end:])
    return write or text[begin:end] == drawing + "\n"


def main():
    build = sys.argv[-1]
    sources = list_sources()
    calls = read_symbols(build, set(sources))
    if len(calls) < 100:
        sys.exit(f"only {len(calls)} objects found in {build}: is this a build?")
    wrong = []
    for circle in find_circles(calls):
        if circle not in KNOWN_CIRCLES:
            wrong.append("a circle of files: " + " ".join(sorted(circle)))
            for path in sorted(circle):
                for other, symbols in sorted(calls[path].items()):
                    if other in circle:
                        wrong.append(f"    {path} uses of {other}: {' '.join(symbols)}")

    rooms, graph, why = find_rooms(sources), collections.defaultdict(set), collections.defaultdict(list)
    pairs = [(path, other, symbols[0]) for path in calls for other, symbols in calls[path].items()]
    pairs += [(path, other, "#include") for path, other in read_includes(sources)]
    for path, other, how in pairs:
        here, there = room_of(path, rooms), room_of(other, rooms)
        if here != there and not here.endswith("/include"):
            graph[here].add(there)
            why[here, there].append(f"    {path} -> {other} ({how})")
    for circle in find_circles(graph):
        wrong.append("a circle of folders: " + " ".join(sorted(circle)))
        for (here, there), reasons in sorted(why.items(), key=lambda pair: len(pair[1])):
            if here in circle and there in circle:
                wrong += [f"  {here} -> {there}, {len(reasons)}:"] + reasons[:3]

    counts = collections.Counter(os.path.dirname(path) for path in sources if path.endswith(".c"))
    wrong += [f"{folder}: {count} .c files, at most {FILES_MAX}" for folder, count in sorted(counts.items()) if count > FILES_MAX]
    if find_circles(graph):  # there are no floors then
        print("\n".join(wrong))
        sys.exit(1)
    drawing = draw(graph, sorted({room_of(path, rooms) for path in sources} - {"stats/tools"}))
    if not check_drawing(drawing, "--write" in sys.argv):
        wrong.append(f"ARCHITECTURE.md has another drawing of the folders: tests/style/rooms.py --write {build}")
    print("\n".join(wrong) if wrong else f"{len(sources)} files in {len(counts)} folders: no circle")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
