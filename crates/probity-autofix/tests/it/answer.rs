//! Answers as agents write them, and what is made of each.

use probity_autofix::{Answer, Expect, parse_answer};

#[test]
fn answers_to_the_question_for_a_patch() {
    let diff = "--- a/Dockerfile\n+++ b/Dockerfile\n@@ -1 +1 @@\n-a\n+b\n";
    let fenced = format!("```diff\n{diff}```\n");
    for (answer, expected) in [
        ("NO_CHANGE".to_owned(), "no change".to_owned()),
        ("\n  NO_CHANGE \r\n".to_owned(), "no change".to_owned()),
        (fenced.clone(), diff.to_owned()),
        (format!("Here it is:\n\n{fenced}\nI kept the rest."), diff.to_owned()),
        (fenced.replace('\n', "\r\n"), diff.to_owned()),
        (fenced.replace("```", "`````"), diff.to_owned()),
        (fenced.replace("```", "~~~"), diff.to_owned()),
        (fenced.replace("```diff", "``` diff"), diff.to_owned()),
        (fenced.replace("```diff", "```Patch"), diff.to_owned()),
        (fenced.replace("```diff", "```udiff"), diff.to_owned()),
        (fenced.replace("```diff", "```diff title=\"x\""), diff.to_owned()),
        (fenced.replace("```diff", "~~~ {.diff .long}").replace("```", "~~~"), diff.to_owned()),
        (fenced.replace("```diff", "```"), diff.to_owned()),
        (fenced.trim_end().to_owned(), diff.to_owned()),
        // The end may be longer than the beginning, and may have blanks behind it.
        (format!("```diff\n{diff}````` \n"), diff.to_owned()),
        // The whole block may be indented, in a list for example.
        ("  ```diff\n  --- a\n   b\n  ```\n".to_owned(), "--- a\n b\n".to_owned()),
        // What is no end of the block belongs to it.
        ("````diff\n```\n````\n".to_owned(), "```\n".to_owned()),
        ("```diff\n~~~\n```\n".to_owned(), "~~~\n".to_owned()),
        ("```diff\n+```\n ```\n```\n".to_owned(), "+```\n ```\n".to_owned()),
        ("```diff\n+a\n```x\n```\n".to_owned(), "+a\n```x\n".to_owned()),
        // A mention of the word is not the answer.
        (format!("NO_CHANGE would be wrong here.\n{fenced}"), diff.to_owned()),
        // Code within a line is no block.
        (format!("Use ```x``` as follows.\n```y``` too\n{fenced}"), diff.to_owned()),
        (String::new(), "answer_empty".to_owned()),
        (" \n\t\n".to_owned(), "answer_empty".to_owned()),
        ("The file is fine as it is.".to_owned(), "answer_prose".to_owned()),
        ("no_change".to_owned(), "answer_prose".to_owned()),
        ("I\u{2019}m sorry, but I can't help.".to_owned(), "answer_refusal".to_owned()),
        ("I cannot do that.".to_owned(), "answer_refusal".to_owned()),
        (format!("{}I cannot", "The stages. ".repeat(20)), "answer_prose".to_owned()),
        (diff.to_owned(), "answer_bare_diff".to_owned()),
        (format!("Here:\ndiff --git a/x b/x\n{diff}"), "answer_bare_diff".to_owned()),
        ("NO_CHANGE\n\nAll is well.".to_owned(), "answer_no_change_with_prose".to_owned()),
        ("**NO_CHANGE**.".to_owned(), "answer_no_change_with_prose".to_owned()),
        (format!("NO_CHANGE\n{fenced}"), "answer_no_change_with_block".to_owned()),
        (format!("{fenced}`NO_CHANGE`"), "answer_no_change_with_block".to_owned()),
        ("```diff\nNO_CHANGE\n```".to_owned(), "answer_no_change_with_block".to_owned()),
        (format!("```diff\n{diff}"), "answer_unclosed_block".to_owned()),
        (format!("````diff\n{diff}```\n"), "answer_unclosed_block".to_owned()),
        (format!("{fenced}```\n"), "answer_unclosed_block".to_owned()),
        (format!("{fenced}{fenced}"), "answer_several_blocks 2".to_owned()),
        (format!("```sh\nmake\n```\n{fenced}```\nx\n```"), "answer_several_blocks 3".to_owned()),
        ("```dockerfile\nFROM a\n```".to_owned(), "answer_wrong_block dockerfile".to_owned()),
        ("```diff\n\n```".to_owned(), "answer_empty_block".to_owned()),
        ("    ```diff\n    x\n    ```".to_owned(), "answer_prose".to_owned()),
    ] {
        assert_eq!(read(&answer, Expect::Patch), expected, "{answer}");
    }
}

#[test]
fn answers_to_the_question_for_a_file() {
    for (answer, expected) in [
        ("NO_CHANGE", "no change"),
        ("```Dockerfile\nFROM a\n```", "FROM a\n"),
        ("Done:\n```dockerfile\nFROM a\n\n# b\n```\nBye.", "FROM a\n\n# b\n"),
        ("```docker\nFROM a\n```", "FROM a\n"),
        ("```Containerfile\nFROM a\n```", "FROM a\n"),
        ("````Dockerfile\nRUN <<E\n```\nE\n````", "RUN <<E\n```\nE\n"),
        // Anything would pass for a file, so the label has to say that it is one.
        ("```\nFROM a\n```", "answer_wrong_block "),
        ("```diff\n+FROM a\n```", "answer_wrong_block diff"),
        ("```Dockerfile\nFROM a\n```\n```Dockerfile\nFROM b\n```", "answer_several_blocks 2"),
        ("FROM a\n", "answer_prose"),
        ("```Dockerfile\nFROM a\n", "answer_unclosed_block"),
        ("```Dockerfile\n```", "answer_empty_block"),
    ] {
        assert_eq!(read(answer, Expect::Dockerfile), expected, "{answer}");
    }
}

#[test]
fn every_reason_is_a_sentence_of_its_own() {
    let answers = ["", "I cannot", "x", "--- a\n+++ b", "NO_CHANGE.", "```\nNO_CHANGE\n```", "```"];
    let more = ["```\na\n```\n```\nb\n```", "```sh\na\n```", "```diff\n```"];
    let mut sentences: Vec<String> = answers
        .iter()
        .chain(&more)
        .map(|answer| match parse_answer(answer, Expect::Patch) {
            Answer::Malformed(reason) => reason.to_string(),
            other => panic!("{answer}: {other:?}"),
        })
        .collect();
    sentences.sort();
    sentences.dedup();
    assert_eq!(sentences.len(), 10, "{sentences:#?}");
}

/// The block's content, or the name of what the answer is instead.
fn read(answer: &str, expect: Expect) -> String {
    use probity_autofix::Malformed::{SeveralBlocks, WrongBlock};
    match parse_answer(answer, expect) {
        Answer::NoChange => "no change".to_owned(),
        Answer::Block(content) => content,
        Answer::Malformed(reason) => match &reason {
            SeveralBlocks { count } => format!("{} {count}", reason.name()),
            WrongBlock { label, .. } => format!("{} {label}", reason.name()),
            _ => reason.name().to_owned(),
        },
    }
}
