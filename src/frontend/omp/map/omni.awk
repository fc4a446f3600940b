# The directives of Omni OpenMP for clusters in a C or C++ source, made into calls of terrane/omp.h:
#   #pragma omni mapping(a[block][*], b[block])   a mapping: when the program starts, or, within a
#                                                 function, when it comes there for the first time
#   schedule(affinity, a[i][*])                   in a pragma of OpenMP: schedule(static)
# Each line stays on its line. -v name=FILE: what the compiler is to call the source.
BEGIN {
  printf "#include <terrane/omp.h>\n#line 1 \"%s\"\n", name
  depth = comment = continues = 0
}

# Counts the braces of a line that are no part of a comment, a string or a character.
function count_braces(line,   i, c, quote) {
  quote = ""
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (comment) {
      if (substr(line, i, 2) == "*/") { comment = 0; i++ }
    } else if (quote != "") {
      if (c == "\\") i++
      else if (c == quote) quote = ""
    } else if (substr(line, i, 2) == "//") {
      return
    } else if (substr(line, i, 2) == "/*") {
      comment = 1; i++
    } else if (c == "\"" || c == "'") {
      quote = c
    } else if (c == "{") {
      depth++
    } else if (c == "}") {
      depth--
    }
  }
}

# a[block][*] -> a, TERRANE_BLOCK, TERRANE_ALL; "": it is no such mapping.
function arguments(item,   array, rest, word, text) {
  gsub(/[ \t]/, "", item)
  if (!match(item, /^[A-Za-z_][A-Za-z_0-9]*/)) return ""
  text = substr(item, 1, RLENGTH)
  rest = substr(item, RLENGTH + 1)
  if (rest == "") return ""
  while (match(rest, /^\[(block|\*)\]/)) {
    word = substr(rest, 2, RLENGTH - 2)
    text = text (word == "block" ? ", TERRANE_BLOCK" : ", TERRANE_ALL")
    rest = substr(rest, RLENGTH + 1)
  }
  return rest == "" ? text : ""
}

function mapping(line,   list, items, count, i, one, text) {
  if (!match(line, /mapping[ \t]*\(.*\)[ \t]*$/)) return ""
  list = substr(line, RSTART, RLENGTH)
  sub(/^mapping[ \t]*\(/, "", list)
  sub(/\)[ \t]*$/, "", list)
  count = split(list, items, ",")
  text = ""
  for (i = 1; i <= count; i++) {
    one = arguments(items[i])
    if (one == "") return ""
    text = text " terrane_map(" one ");"
  }
  if (depth == 0)
    return "static void __attribute__((constructor)) terrane_mapping_" NR "(void) {" text " }"
  return "{ static int terrane_is_mapped; if (!terrane_is_mapped++) {" text " } }"
}

!comment && /^[ \t]*#[ \t]*pragma[ \t]+omni([ \t]|$)/ {
  text = mapping($0)
  if (text == "")
    text = "#error \"of Omni's directives there is mapping(a[block][*]): [block] once, else [*]\""
  print text
  next
}

!comment && (continues || /^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]/) {
  continues = /\\$/
  gsub(/schedule[ \t]*\([ \t]*affinity[ \t]*,[^)]*\)/, "schedule(static)")
  print
  next
}

{
  print
  count_braces($0)
}
