//! Words and what stands in them.

use super::{Generator, NAMES};

impl Generator {
    pub(super) fn test(&mut self, depth: usize, out: &mut String) {
        out.push_str("[[ ");
        for index in 0..self.below(3) + 1 {
            if index > 0 {
                out.push_str(self.pick(&[" && ", " || ", "\n&& ", " ||\n"]));
            }
            match self.below(6) {
                0 => {
                    out.push_str(self.pick(&["-f ", "-z ", "! -d ", "-v "]));
                    self.word(depth, out);
                }
                1 => {
                    self.word(depth, out);
                    out.push_str(" =~ ");
                    out.push_str(self.pick(&[
                        "^a(b|c)+$",
                        "(x y)",
                        "[a-z]*|b",
                        "a\\ b",
                        "^\"q\".*$",
                        "((a)b)",
                    ]));
                }
                2 => {
                    self.word(depth, out);
                    out.push_str(self.pick(&[" == ", " = ", " != "]));
                    out.push_str(self.pick(&[
                        "*(a|b)",
                        "@(x)y",
                        "a*",
                        "!(*.o|\"(\")",
                        "[[:alpha:]]?",
                    ]));
                }
                3 => {
                    out.push_str("( ");
                    self.word(depth, out);
                    out.push_str(" )");
                }
                4 => {
                    self.word(depth, out);
                    out.push_str(self.pick(&[" -eq ", " < ", " > ", " -nt ", "<", ">"]));
                    self.word(depth, out);
                }
                _ => self.word(depth, out),
            }
        }
        out.push_str(" ]]");
    }

    pub(super) fn arithmetic(&mut self, depth: usize, out: &mut String) {
        for index in 0..self.below(3) + 1 {
            if index > 0 {
                out.push_str(self.pick(&[" + ", "*", " << ", " , ", " ? 1 : ", "<", "|"]));
            }
            match self.below(6) {
                0 => out.push_str("(x - 1)"),
                1 => {
                    out.push_str("a[");
                    self.word(depth.saturating_sub(1), out);
                    out.push(']');
                }
                2 if depth > 0 => self.expansion(depth - 1, out),
                3 => out.push_str("0x1f"),
                _ => out.push_str(self.pick(&["x", "1", "y++", "16#ff", "$z"])),
            }
        }
    }

    pub(super) fn word(&mut self, depth: usize, out: &mut String) {
        for _ in 0..self.below(3) + 1 {
            match self.below(14) {
                0..=4 => out.push_str(self.pick(&[
                    "a", "foo", "b.c", "-x", "--opt=v", "1", "é", "x/y", "%", ":", "in", "}",
                ])),
                5 => out.push_str(self.pick(&[
                    "'q u'",
                    "''",
                    "'$(no)'",
                    "'\"'",
                    "\\ ",
                    "\\$",
                    "\\'",
                    "\\\n",
                    "$'\\x41\\''",
                    "$'a\\\\'",
                ])),
                6 | 7 => {
                    out.push('"');
                    for _ in 0..self.below(3) {
                        match self.below(4) {
                            0 => out.push_str("t'x "),
                            1 => {
                                out.push_str(self.pick(&[
                                    "\\\"", "\\$", "\\\\", "$", "#", "(", ")", "}", "\\\n",
                                ]))
                            }
                            _ => self.expansion(depth, out),
                        }
                    }
                    out.push('"');
                }
                8 | 9 | 10 => self.expansion(depth, out),
                11 => out.push_str(self.pick(&[
                    "*",
                    "?",
                    "[a-z]",
                    "[!x]",
                    "{a,b}",
                    "{1..3}",
                    "{a,{b,c}d}",
                    "{}",
                    "{x",
                    "~",
                    "~u/",
                    "a#b",
                    "@",
                    "!",
                    "+",
                    "^",
                    ",",
                ])),
                12 if depth > 0 => {
                    out.push_str(self.pick(&["<(", ">("]));
                    self.list(depth - 1, out);
                    out.push(')');
                }
                _ => out.push_str(self.pick(NAMES)),
            }
        }
    }

    pub(super) fn expansion(&mut self, depth: usize, out: &mut String) {
        if depth == 0 {
            return out.push_str(self.pick(&[
                "$x", "${y}", "$1", "$?", "$@", "${#z}", "$$", "${!n}", "${a[1]}", "${a[@]}", "$#",
            ]));
        }
        let depth = depth - 1;
        match self.below(10) {
            0..=2 => {
                out.push_str("$(");
                self.list(depth, out);
                out.push_str(self.pick(&[")", " )", "\n)", " # c\n)"]));
            }
            3 => {
                let mut inside = String::new();
                self.simple(0, &mut inside);
                out.push('`');
                out.push_str(&inside.replace('\\', "\\\\").replace('`', "\\`"));
                out.push('`');
            }
            4 => {
                out.push_str("$((");
                self.arithmetic(depth, out);
                out.push_str("))");
            }
            5 => {
                out.push_str("${ ");
                self.closed(depth, out);
                out.push('}');
            }
            6 => {
                out.push_str("$((");
                self.list(depth, out);
                out.push_str(") | cat)");
            }
            7 => {
                out.push_str("$[");
                self.arithmetic(depth, out);
                out.push(']');
            }
            _ => {
                out.push_str("${x");
                out.push_str(self.pick(&["", "[1]", "[@]", "[$y]"]));
                out.push_str(self.pick(&[
                    ":-", "-", ":=", "=", ":?", "?", ":+", "+", "#", "##", "%", "%%", "/", "//",
                    "/#", "^", "^^", ",", ",,", "@", ":", ":1:",
                ]));
                self.word(depth, out);
                out.push('}');
            }
        }
    }
}
