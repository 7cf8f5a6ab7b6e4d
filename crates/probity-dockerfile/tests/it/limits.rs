//! Large and hostile inputs end, and soon: a quadratic or recursive parser would not.

use probity_dockerfile::parse;

/// Enough for a quadratic parser to be noticed, for each shape.
const SIZE: usize = 256 * 1024;

#[test]
fn large_hostile_inputs_are_read_to_the_end() {
    let shapes = [
        "FROM a\n",
        "RUN a \\\n",
        "RUN a \\\n\n",
        "RUN a \\\n# c\n",
        "RUN <<A <<B\n",
        "RUN <<A\nA\n",
        "ONBUILD ",
        "ONBUILD \\\n",
        "RUN --mount=type=cache,target=/x \\\n",
        "--mount=a,\\\n",
        "ENV a=b \\\n",
        "[",
        "RUN [\\\n",
        "CMD [\"a\",\\\n",
        "${a:-\\\n",
        "'\"\\\n",
        "# comment\n",
        "# syntax=a\n",
        "\\\n",
        "<",
        "\r",
        "COPY a \\\n",
        "\u{feff}",
        "EXPOSE 1 \\\n",
    ];
    for shape in shapes {
        for head in ["", "FROM a\nRUN cat <<E \\\n", "FROM a\nONBUILD RUN ["] {
            let text = format!("{head}{}", shape.repeat(SIZE / 4 / shape.len()));
            let file = parse(&text);
            assert_eq!(file.tokens.last().map(|token| token.span.end), Some(text.len()));
        }
        let text = shape.repeat(SIZE / shape.len());
        let file = parse(&text);
        assert_eq!(file.tokens.last().map(|token| token.span.end), Some(text.len()), "{shape:?}");
    }
}

#[test]
fn two_megabytes_in_one_instruction_are_read_to_the_end() {
    let line = "  --flag 'quoted text' \"$var\" <<E \\\n  # comment\n\n";
    let text =
        format!("FROM a\nRUN cat \\\n{}  end\nE\n", line.repeat(2 * 1024 * 1024 / line.len()));
    let file = parse(&text);
    assert_eq!(file.instructions.len(), 2);
    assert_eq!(file.tokens.last().map(|token| token.span.end), Some(text.len()));
}
