//! The smallest project of each language, and a test of it that needs nothing but its runner.

/// A project, and the code of a test in which `{answer}` stands for what it expects.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) language: &'static str,
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The file that the test is about.
    pub(super) flagged: &'static str,
    pub(super) test: &'static str,
}

/// What every sample answers, and something else.
pub(super) const ANSWER: &str = "42";
pub(super) const OTHER: &str = "41";

pub(super) const SAMPLES: &[Sample] = &[
    Sample {
        language: "Go",
        files: &[
            ("go.mod", "module sample\n\ngo 1.18\n"),
            ("sample.go", "package sample\n\nfunc Answer() int { return 42 }\n"),
        ],
        flagged: "sample.go",
        test: "package sample\n\nimport \"testing\"\n\nfunc TestAnswer(t *testing.T) {\n\t\
               if Answer() != {answer} {\n\t\tt.Fatal(\"another answer\")\n\t}\n}\n",
    },
    Sample {
        language: "Python",
        files: &[("sample.py", "def answer():\n    return 42\n")],
        flagged: "sample.py",
        test: "from sample import answer\n\n\ndef test_answer():\n    assert answer() == {answer}\n",
    },
    Sample {
        language: "JavaScript",
        files: &[
            ("package.json", "{ \"name\": \"sample\", \"version\": \"1.0.0\" }\n"),
            ("sample.js", "exports.answer = () => 42;\n"),
        ],
        flagged: "sample.js",
        test: "const { test } = require('node:test');\nconst assert = require('node:assert');\n\
               const sample = require('./sample.js');\n\n\
               test('answer', () => assert.strictEqual(sample.answer(), {answer}));\n",
    },
    Sample {
        language: "Rust",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            ("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n"),
        ],
        flagged: "src/lib.rs",
        test: "#[test]\nfn answer() {\n    assert_eq!(sample::answer(), {answer});\n}\n",
    },
    Sample {
        language: "Shell",
        files: &[("sample.sh", "answer() {\n  echo 42\n}\n")],
        flagged: "sample.sh",
        test: "@test \"answer\" {\n  source \"$BATS_TEST_DIRNAME/sample.sh\"\n  \
               [ \"$(answer)\" = {answer} ]\n}\n",
    },
    Sample {
        language: "Ruby",
        files: &[("sample.rb", "def answer\n  42\nend\n")],
        flagged: "sample.rb",
        test: "require 'minitest/autorun'\nrequire_relative 'sample'\n\n\
               class SampleTest < Minitest::Test\n  def test_answer\n    \
               assert_equal {answer}, answer\n  end\nend\n",
    },
    Sample {
        language: "PHP",
        files: &[("sample.php", "<?php\n\nfunction answer(): int\n{\n    return 42;\n}\n")],
        flagged: "sample.php",
        test: "<?php\n\nrequire_once __DIR__ . '/sample.php';\n\n\
               final class SampleTest extends \\PHPUnit\\Framework\\TestCase\n{\n    \
               public function testAnswer(): void\n    {\n        \
               $this->assertSame({answer}, answer());\n    }\n}\n",
    },
    Sample {
        language: "Java",
        files: &[(
            "Sample.java",
            "class Sample {\n    static int answer() {\n        return 42;\n    }\n}\n",
        )],
        flagged: "Sample.java",
        test: "class SampleTest {\n    @org.junit.jupiter.api.Test\n    void answer() {\n        \
               org.junit.jupiter.api.Assertions.assertEquals({answer}, Sample.answer());\n    }\n}\n",
    },
    Sample {
        language: "C and C++",
        files: &[
            (
                "CMakeLists.txt",
                "cmake_minimum_required(VERSION 3.13)\nproject(sample CXX)\nenable_testing()\n\
                 add_library(sample sample.cpp)\n",
            ),
            ("sample.cpp", "int answer() { return 42; }\n"),
        ],
        flagged: "sample.cpp",
        test: "#include <gtest/gtest.h>\n\nint answer();\n\n\
               TEST(Sample, Answer) { EXPECT_EQ({answer}, answer()); }\n",
    },
    Sample {
        language: "Aiken",
        files: &[
            ("aiken.toml", "name = \"probity/sample\"\nversion = \"0.0.0\"\n"),
            ("lib/sample.ak", "pub fn answer() -> Int {\n  42\n}\n"),
        ],
        flagged: "lib/sample.ak",
        test: "use sample\n\ntest answer_is_right() {\n  sample.answer() == {answer}\n}\n",
    },
];
