//! Nothing is lost and nothing breaks, whatever the text is.

use proptest::{collection::vec, prelude::*, sample::select};

use crate::invariants::check;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keeps_every_byte_of_dockerfile_like_text(text in dockerfile_like()) {
        check(&text);
    }

    #[test]
    fn keeps_every_byte_of_any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }
}

/// Pieces that mean something to the parser, in any order.
fn dockerfile_like() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "FROM",
        "from a AS b",
        "RUN",
        "COPY",
        "ADD a b",
        "ENV",
        "LABEL a=b",
        "ARG x=1",
        "ONBUILD",
        "CMD",
        "HEALTHCHECK",
        "NONE",
        "EXPOSE 80",
        "SHELL",
        "VOLUME",
        "WORKDIR",
        "FOO",
        " ",
        "  ",
        "\t",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "\\",
        "\\\n",
        "\\ \n",
        "`\n",
        "`",
        "# escape=`\n",
        "# syntax=x\n",
        "# check=skip=all\n",
        "#",
        "# c\n",
        "\u{feff}",
        "<<EOF",
        "<<-'E F'",
        "<<E",
        "<<",
        "<",
        "3<<A",
        "\nEOF\n",
        "\n\tE\n",
        "\nA\n",
        "--from=a",
        "--mount=type=cache,target=/x",
        "--mount=",
        "--",
        "--x",
        "=",
        "\"",
        "'",
        "\\\"",
        "[",
        "]",
        "[\"a\", \"b\"]",
        "[1]",
        "{",
        "}",
        ",",
        "$",
        "${",
        "${a:-b}",
        "${a/b/c}",
        "é",
        "\u{a0}",
        "\u{2028}",
        "a",
        "b",
        "\u{0}",
        "1s",
        "interval",
        "=1h",
    ]);
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}
