//! Texts that shells might meet: made by grammar, then damaged.

mod word;

/// Makes texts, the same ones for the same seed.
pub struct Generator {
    state: u64,
    /// Texts made before, to splice from.
    pool: Vec<String>,
}

/// Tokens that change what a shell reads.
const TOKENS: &[&str] = &[
    " ",
    " ",
    "\n",
    "\t",
    ";",
    ";;",
    ";&",
    ";;&",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "{ ",
    " }",
    "[",
    "]",
    "[[ ",
    " ]]",
    "!",
    "! ",
    "<",
    ">",
    ">>",
    "<<",
    "<<-",
    "<<<",
    "<&",
    ">&",
    "<>",
    ">|",
    "&>",
    "&>>",
    "<(",
    ">(",
    "$",
    "$(",
    "$((",
    "${",
    "$[",
    "$'",
    "$\"",
    "'",
    "\"",
    "`",
    "\\",
    "\\\n",
    "#",
    " #",
    "~",
    "*",
    "?",
    "=",
    "+=",
    "a=(",
    "a[",
    ":-",
    "-",
    "if ",
    "then ",
    "else ",
    "elif ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "while ",
    "until ",
    "case ",
    "esac",
    "select ",
    "function ",
    "time ",
    "coproc ",
    "declare ",
    "x",
    "y",
    "1",
    "2>",
    "{fd}>",
    "EOF",
    "\nEOF\n",
    "@(",
    "*(",
    ",",
    "..",
    "é",
    "-f ",
    "== ",
    "=~ ",
    "%",
    "/",
    "x=1 ",
    "f() ",
    "-p ",
    "-- ",
    "export ",
    ":",
    "^",
    "]]",
];

const NAMES: &[&str] = &[
    "ls", "echo", "a", "rm", "git", "cat", "x1", "b-c", "./run", "/bin/sh", "true", "env", "test",
];

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, pool: Vec::new() }
    }

    /// Makes a text: two of five as the grammar has it, the rest with something changed.
    pub fn text(&mut self) -> String {
        let mut text = String::new();
        let depth = self.below(4) + 1;
        self.list(depth, &mut text);
        match self.below(5) {
            0 | 1 => {}
            2 => self.damage(&mut text),
            3 => {
                for _ in 0..self.below(4) + 1 {
                    self.damage(&mut text);
                }
            }
            _ => self.splice(&mut text),
        }
        let count = self.pool.len();
        match count < 500 {
            true => self.pool.push(text.clone()),
            false => {
                let at = self.below(count);
                self.pool[at].clone_from(&text);
            }
        }
        text
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn damage(&mut self, text: &mut String) {
        let at = self.place(text);
        match self.below(4) {
            0 | 1 => text.insert_str(at, self.pick(TOKENS)),
            2 => {
                let to = (at + 1 + self.below(3)).min(text.len());
                if text.is_char_boundary(to) {
                    text.replace_range(at..to, "");
                }
            }
            _ => {
                let to = (at + 1).min(text.len());
                if text.is_char_boundary(to) {
                    text.replace_range(at..to, self.pick(TOKENS));
                }
            }
        }
    }

    fn splice(&mut self, text: &mut String) {
        if self.pool.is_empty() {
            return;
        }
        let at = self.below(self.pool.len());
        let other = self.pool[at].clone();
        let from = self.place(&other);
        let at = self.place(text);
        text.truncate(at);
        text.push_str(&other[from..]);
        text.truncate(text.floor_char_boundary(2000));
    }

    fn list(&mut self, depth: usize, out: &mut String) {
        for index in 0..self.below(3) + 1 {
            if index > 0 {
                out.push_str(
                    self.pick(&["; ", "\n", " && ", " || ", " & ", " | ", " |& ", ";\n", "&&\n"]),
                );
            }
            self.command(depth, out);
        }
    }

    /// A list that a reserved word can follow.
    fn closed(&mut self, depth: usize, out: &mut String) {
        self.list(depth, out);
        out.push_str(self.pick(&["; ", "\n", "; ", " & "]));
    }

    fn command(&mut self, depth: usize, out: &mut String) {
        if depth == 0 || self.below(3) > 0 {
            return self.simple(depth, out);
        }
        let depth = depth - 1;
        match self.below(17) {
            0 => {
                out.push_str("( ");
                self.list(depth, out);
                out.push_str(" )");
            }
            1 => {
                out.push_str("{ ");
                self.closed(depth, out);
                out.push('}');
            }
            2 => {
                out.push_str("if ");
                self.closed(depth, out);
                out.push_str("then ");
                self.closed(depth, out);
                if self.below(2) == 0 {
                    out.push_str("else ");
                    self.closed(depth, out);
                }
                out.push_str("fi");
            }
            3 => {
                out.push_str(self.pick(&["while ", "until "]));
                self.closed(depth, out);
                out.push_str("do ");
                self.closed(depth, out);
                out.push_str("done");
            }
            4 => {
                out.push_str(self.pick(&["for x in ", "select x in ", "for x\nin "]));
                for _ in 0..self.below(3) {
                    self.word(depth, out);
                    out.push(' ');
                }
                out.push_str(self.pick(&["; do ", "\ndo "]));
                self.closed(depth, out);
                out.push_str("done");
            }
            5 => {
                out.push_str("for ((i=0;");
                self.arithmetic(depth, out);
                out.push_str(self.pick(&[";i++)); do ", "; i++ ))\ndo ", ";)) do "]));
                self.closed(depth, out);
                out.push_str("done");
            }
            6 | 7 => {
                out.push_str("case ");
                self.word(depth, out);
                out.push_str(self.pick(&[" in ", "\nin\n"]));
                for _ in 0..self.below(3) {
                    out.push_str(self.pick(&["", "(", "( "]));
                    self.word(depth, out);
                    if self.below(3) == 0 {
                        out.push_str(" | ");
                        self.word(depth, out);
                    }
                    out.push_str(") ");
                    if self.below(4) > 0 {
                        self.list(depth, out);
                    }
                    out.push_str(self.pick(&[";; ", ";;\n", ";& ", ";;& "]));
                }
                out.push_str("esac");
            }
            8 | 9 => self.test(depth, out),
            10 => {
                out.push_str("((");
                self.arithmetic(depth, out);
                out.push_str("))");
            }
            11 => {
                out.push_str(self.pick(&["f() ", "function f ", "function f() ", "f () \n"]));
                out.push_str("{ ");
                self.closed(depth, out);
                out.push('}');
            }
            12 => {
                out.push_str(self.pick(&["coproc ", "coproc N { ", "coproc { "]));
                if out.ends_with("{ ") {
                    self.closed(depth, out);
                    out.push('}');
                } else {
                    self.simple(depth, out);
                }
            }
            13 => {
                out.push_str(self.pick(&["! ", "time ", "time -p ", "! time "]));
                self.command(depth, out);
            }
            14 => {
                out.push_str("((");
                self.list(depth, out);
                out.push_str(self.pick(&[") | ", "); ", ") && "]));
                self.list(depth, out);
                out.push(')');
            }
            15 => self.heredoc(depth, out),
            _ => {
                out.push_str("for x");
                out.push_str(self.pick(&[" do ", "; do ", "\ndo ", "; { "]));
                let brace = out.ends_with("{ ");
                self.closed(depth, out);
                out.push_str(if brace { "}" } else { "done" });
            }
        }
        while self.below(6) == 0 {
            self.redirection(depth, out);
        }
    }

    fn heredoc(&mut self, depth: usize, out: &mut String) {
        let operator =
            self.pick(&["cat <<EOF", "cat <<'EOF'", "cat <<-EOF", "cat <<E\"O\"F", "cat 3<< EOF"]);
        out.push_str(operator);
        if self.below(3) == 0 {
            out.push_str(self.pick(&[" | ", " && ", "; ", " > "]));
            out.push_str(self.pick(NAMES));
        }
        out.push('\n');
        for _ in 0..self.below(3) {
            let line = match self.below(6) {
                0 => "it's\n",
                1 => "\ttab \\\n",
                2 => "$x ${y} \\$(no)\n",
                3 => "\"open\n",
                4 => {
                    self.word(depth, out);
                    "\n"
                }
                _ => "$((1 + 2))\n",
            };
            out.push_str(line);
        }
        out.push_str(self.pick(&["EOF\n", "EOF\n", "\tEOF\n", "EOF", "EOF)\n"]));
    }

    fn simple(&mut self, depth: usize, out: &mut String) {
        for _ in 0..self.below(5) / 3 {
            out.push_str(self.pick(&["x=", "y+=", "z[1]=", "w[a b]=", "_v="]));
            match self.below(3) {
                0 => self.array(depth, out),
                1 => {}
                _ => self.word(depth, out),
            }
            out.push(' ');
        }
        if self.below(12) == 0 {
            out.push_str(self.pick(&["declare ", "export ", "local ", "eval "]));
            out.push_str("a=");
            match self.below(2) {
                0 => self.array(depth, out),
                _ => self.word(depth, out),
            }
            return;
        }
        match self.below(8) {
            0 => self.word(depth, out),
            _ => out.push_str(self.pick(NAMES)),
        }
        for _ in 0..self.below(4) {
            match self.below(5) {
                0 => self.redirection(depth, out),
                _ => {
                    out.push(' ');
                    self.word(depth, out);
                }
            }
        }
    }

    fn array(&mut self, depth: usize, out: &mut String) {
        out.push('(');
        for _ in 0..self.below(3) {
            out.push_str(self.pick(&["", "", "[k]=", "[1 2]=", "\n", "#c\n"]));
            self.word(depth, out);
            out.push(' ');
        }
        out.push(')');
    }

    fn redirection(&mut self, depth: usize, out: &mut String) {
        out.push_str(self.pick(&[
            " >", " > ", " >>", " 2>", " <", " <<<", " 2>&1 >", " &>", " &>>", " >|", " <>",
            " {fd}>", ">", " >&", " 3<&",
        ]));
        match self.below(3) {
            0 => self.word(depth, out),
            1 => out.push_str("f"),
            _ => out.push_str(self.pick(&["/dev/null", "-", "1", "out"])),
        }
    }
}
