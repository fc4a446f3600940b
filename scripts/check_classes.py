#!/usr/bin/env python3
"""No class has more than 40 member functions. Usage: check_classes.py [--self-test | --table]

LARGER has the classes that are larger still, and how large they may be: a class that shrinks gets its new number, and
one with 40 leaves the list.

--table prints all classes with more than 20, the largest first. Counted are the declarations in the body of a class in
src/ and include/: constructors, operators and inline functions too, but neither functions of an inner class nor
defaulted and deleted ones.
"""

import re
import sys

import source_tree

MOST = 40
LARGER = {"UcxTransport": 60, "ChunkHistory": 59, "Generator": 56, "LockManager": 56, "Mover": 54,
          "AdaptivePredictor": 55, "Predictor": 54, "PageSpace": 50, "Engine": 49, "RoutedTransport": 48, "Job": 46,
          "RoutingHistory": 44, "WorkClient": 43, "ChunkNode": 41, "Team": 41}
TABLE_FROM = 20
CLASS = re.compile(r"\b(?:class|struct)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*|TERRANE_\w+\s+)*(\w+)\s*(?:final\s*)?"
                   r"(?::[^;{}()]*)?\{")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*',
                   re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(r"(~?\w+|operator\s*(?:\(\)|\[\]|[^\s\w(]+|[\w:]+))\s*\($")
NO_FUNCTIONS = {"if", "for", "while", "switch", "return", "alignas", "decltype", "sizeof", "requires", "noexcept",
                "static_assert", "explicit", "__attribute__"}


def close_of(text, at):
    """Behind the brace that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


def statements(body):
    """What stands at the depth of the class itself, without the bodies of functions and inner classes."""
    out, start, i, parens = [], 0, 0, 0
    while i < len(body):
        c = body[i]
        parens += {"(": 1, ")": -1}.get(c, 0)
        if c == "{" and parens == 0:
            out.append(body[start:i])
            i = close_of(body, i)
            start = i
            continue
        if c == ";" and parens == 0:
            out.append(body[start:i])
            start = i + 1
        i += 1
    return out


def is_function(statement):
    """Whether the statement declares or defines a member function."""
    statement = re.sub(r"^\s*(?:(?:public|private|protected)\s*:\s*)+", "", statement)
    if re.match(r"\s*(?:friend|using|typedef|enum|class|struct|union|template\s*<[^>]*>\s*(?:class|struct|friend))\b",
                statement) or re.search(r"=\s*(?:default|delete)\s*$", statement):
        return False
    opening = statement.find("(")
    if opening < 0 or "=" in re.sub(r"operator\s*\S+|[<>=!]=", "", statement[:opening]):
        return False
    found = FUNCTION.search(statement[:opening + 1])
    return bool(found) and found.group(1) not in NO_FUNCTIONS


def classes(text):
    """(line, name, member functions) of each class in the text."""
    plain = NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for found in CLASS.finditer(plain):
        if re.search(r"\benum\s*$", plain[:found.start()]):
            continue
        opening = found.end() - 1
        body = plain[opening + 1:close_of(plain, opening) - 1]
        count = sum(map(is_function, statements(body)))
        yield plain.count("\n", 0, found.start()) + 1, found.group(1), count


def all_classes(root):
    for path in source_tree.files(root):
        if path.parts[0] in ("src", "include") and path.suffix in (".h", ".hpp", ".cpp"):
            for line, name, count in classes((root / path).read_text(errors="replace")):
                yield path, line, name, count


def check(root):
    wrong = []
    for path, line, name, count in all_classes(root):
        most = LARGER.get(name, MOST)
        if count > most:
            wrong.append(f"{path}:{line}: class {name} has {count} member functions; at most {most}")
        elif MOST < count < most:
            wrong.append(f"{path}:{line}: class {name} has {count} member functions: say so in LARGER")
    return wrong


def self_test():
    """The check must find the large class, and count neither the functions that an inner class has nor other lines."""
    many = "".join(f"  int f{i}(int a = g(1), void (*b)(int) = nullptr) const {{ return h(a); }}\n" for i in range(41))
    fields = "".join(f"  int x{i} = f({i});\n  std::atomic<int> y{i}{{0}};\n" for i in range(80))
    inner = "".join(f"  void f{i}();\n" for i in range(40))
    wrong = {"src/base/a.h": f"class A final : public B<C> {{\n public:\n{many}}};\n"}
    wrong["src/base/shrunk.h"] = wrong["src/base/a.h"].replace("class A", "class Job")
    right = {"src/base/b.h": f"struct B {{\n{fields}  struct Inner {{\n{inner}}};\n{inner}}};\n",
             "src/base/c.h": "enum class E {\n" + ",".join(f"a{i}" for i in range(90)) + "};\n"}
    return source_tree.self_test(check, wrong, right)


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        for path, line, name, count in sorted(all_classes(source_tree.ROOT), key=lambda c: -c[3]):
            if count > TABLE_FROM:
                print(f"{count:4}  {name}  {path}:{line}")
        sys.exit(0)
    ours = self_test() if sys.argv[1:] == ["--self-test"] else check(source_tree.ROOT)
    sys.exit(source_tree.report("check_classes", ours))
