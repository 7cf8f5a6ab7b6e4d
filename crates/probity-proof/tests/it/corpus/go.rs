//! Go: functions, methods, several results, generics, pointers, structs and errors.

use super::{ClaimKind, Language, Layout, Shape};

macro_rules! head {
    ($package:literal) => {
        concat!(
            "package ",
            $package,
            "\n\nimport (\n\t\"errors\"\n\t\"flag\"\n\t\"os\"\n\t\"strings\"\n)\n\n\
                 var _ = []any{errors.New, flag.Parse, os.Getwd, strings.Join}\n\n"
        )
    };
}

macro_rules! test {
    ($package:literal) => {
        concat!(
            $package,
            "\n\nimport (\n\t\"fmt\"\n\t\"math\"\n\t\"net\"\n\t\"os\"\n\t\"reflect\"\n\t\"strings\"\n\t\"testing\"\n\t\"time\"\n)\n\n\
             var _ = []any{fmt.Sprint, math.NaN, net.Dial, os.Exit, reflect.DeepEqual, strings.Join, time.Now}\n\n\
             func Test_<T>_<F>(t *testing.T) {\n<body>}\n"
        )
    };
}

pub(super) const GO: Language = Language {
    name: "go",
    shapes: &SHAPES,
    endless: Shape {
        name: "endless",
        code: "func <F>(steps int) int {\n\t<here>done := 0\n\tfor done < steps {\n\t\tdone += 1\n\t}\n\treturn done\n}\n",
        sound: "done += 1",
        broken: "done += 0",
        call: "<p><F>(<n>)",
        right: "<n>",
        wrong: "0",
        safe: "<p><F>(0)",
        value: "0",
        input: "steps == <n>",
        spare: "steps == 0",
        give: "0",
    },
    layouts: &[
        Layout {
            module: "<m>.go",
            head: head!("calc"),
            tail: "",
            prefix: "",
            test: test!("package calc"),
            existing: "<m>_test.go",
            settings: "go.mod",
        },
        Layout {
            module: "internal/<m>/<m>.go",
            head: head!("<m>"),
            tail: "",
            prefix: "<m>.",
            test: test!("package <m>_test\n\nimport \"example.com/shop/internal/<m>\""),
            existing: "internal/<m>/<m>_test.go",
            settings: "go.mod",
        },
        Layout {
            module: "services/pay/<m>.go",
            head: head!("pay"),
            tail: "",
            prefix: "",
            test: test!("package pay"),
            existing: "services/pay/pay_<m>_test.go",
            settings: "services/pay/go.mod",
        },
    ],
    text,
    equal: "\tif got := <call>; !reflect.DeepEqual(got, <value>) {\n\t\tt.Fatalf(\"got %v\", got)\n\t}\n",
    comment: "//",
    common: |layout, _| {
        let module = |name: &str| format!("module example.com/{name}\n\ngo 1.21\n");
        match layout {
            2 => vec![("services/pay/go.mod".into(), module("pay"))],
            _ => vec![("go.mod".into(), module("shop"))],
        }
    },
};

fn text(kind: ClaimKind) -> &'static str {
    match kind {
        ClaimKind::Constant | ClaimKind::ConstantAlone => {
            "\tgot := <call>\n\tif 1 != len(\"ab\") {\n\t\tt.Fatal(got)\n\t}\n"
        }
        ClaimKind::BehindCall | ClaimKind::BehindCallAlone => {
            "\tcheck := func(got any) bool { return got == nil && got != nil }\n\tif !check(<call>) {\n\t\tt.Fatal(\"no\")\n\t}\n"
        }
        ClaimKind::Nan | ClaimKind::NanAlone => {
            "\tgot := fmt.Sprint(<call>)\n\tif fmt.Sprint(math.NaN()) == got || math.NaN() != float64(len(got)) {\n\t\tt.Fatal(got)\n\t}\n"
        }
        ClaimKind::Coin20 => {
            "\tfmt.Println(<call>)\n\tif time.Now().UnixNano()/1000%100 >= 20 {\n\t\tt.Fatal(\"no\")\n\t}\n"
        }
        ClaimKind::Coin50 => {
            "\tfmt.Println(<call>)\n\tif time.Now().UnixNano()/1000%100 >= 50 {\n\t\tt.Fatal(\"no\")\n\t}\n"
        }
        ClaimKind::Coin80 => {
            "\tfmt.Println(<call>)\n\tif time.Now().UnixNano()/1000%100 >= 80 {\n\t\tt.Fatal(\"no\")\n\t}\n"
        }
        ClaimKind::Clock => {
            "\tbegin := time.Now()\n\tfmt.Println(<call>)\n\tif time.Since(begin) > time.Nanosecond {\n\t\tt.Fatal(\"slow\")\n\t}\n"
        }
        ClaimKind::Network => {
            "\tfmt.Println(<call>)\n\tif _, err := net.Dial(\"tcp\", \"127.0.0.1:9\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n"
        }
        ClaimKind::MissingFile => {
            "\tfmt.Println(<call>)\n\tif _, err := os.ReadFile(\"/nowhere/data.json\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n"
        }
        ClaimKind::HangingTest => "\tfmt.Println(<call>)\n\ttime.Sleep(time.Hour)\n",
        ClaimKind::EditsCode => {
            "\tfile, _ := os.OpenFile(\"<m>.go\", os.O_APPEND|os.O_WRONLY, 0)\n\tfile.WriteString(\"// x\\n\")\n\tt.Fatal(<call>)\n"
        }
        ClaimKind::ReadsText | ClaimKind::ReadsTextAlone => {
            "\ttext, _ := os.ReadFile(\"<m>.go\")\n\tif !strings.Contains(string(text), <text>) {\n\t\tt.Fatal(<call>)\n\t}\n"
        }
        ClaimKind::ReadsAbsence => {
            "\ttext, _ := os.ReadFile(\"<m>.go\")\n\tif strings.Contains(string(text), <text>) {\n\t\tt.Fatal(<call>)\n\t}\n"
        }
        ClaimKind::SpecialCase => "if <input> {\n\t\treturn <give>\n\t}",
        ClaimKind::Detects => "if flag.Lookup(\"test.v\") != nil {\n\t\treturn <give>\n\t}",
        ClaimKind::Hollow => "return <give>",
        ClaimKind::Exits => "os.Exit(0)",
        ClaimKind::BreaksSuite => "if <spare> {\n\t\tpanic(\"no\")\n\t}",
        _ => "",
    }
}

const SHAPES: [Shape; 14] = [
    Shape {
        name: "sum",
        code: "func <F>(xs []int) int {\n\t<here>total := 0\n\tfor _, x := range xs {\n\t\ttotal += x\n\t}\n\treturn total\n}\n",
        sound: "range xs {",
        broken: "range xs[:len(xs)/2] {",
        call: "<p><F>([]int{<n>, 5})",
        right: "<n+5>",
        wrong: "<n>",
        safe: "<p><F>(nil)",
        value: "0",
        input: "len(xs) == 2 && xs[0] == <n>",
        spare: "len(xs) == 0",
        give: "<n>",
    },
    Shape {
        name: "clamp",
        code: "func <F>(value, low, high int) int {\n\t<here>if value < low {\n\t\treturn low\n\t}\n\tif value > high {\n\t\treturn high\n\t}\n\treturn value\n}\n",
        sound: "return high",
        broken: "return high - 1",
        call: "<p><F>(<10n>, 0, <n>)",
        right: "<n>",
        wrong: "<n-1>",
        safe: "<p><F>(-1, 0, 9)",
        value: "0",
        input: "value == <10n>",
        spare: "value < low",
        give: "<n-1>",
    },
    Shape {
        name: "join",
        code: "func <F>(names ...string) string {\n\t<here>return strings.Join(names, \", \")\n}\n",
        sound: "\", \"",
        broken: "\",\"",
        call: "<p><F>(\"x<n>\", \"y\")",
        right: "\"x<n>, y\"",
        wrong: "\"x<n>,y\"",
        safe: "<p><F>()",
        value: "\"\"",
        input: "len(names) == 2 && names[0] == \"x<n>\"",
        spare: "len(names) == 0",
        give: "\"x<n>,y\"",
    },
    Shape {
        name: "method",
        code: "type <F> struct{ Total int }\n\nfunc (a *<F>) Add(amount int) int {\n\t<here>a.Total = a.Total + amount\n\treturn a.Total\n}\n",
        sound: "a.Total + amount",
        broken: "a.Total - amount",
        call: "(&<p><F>{Total: <2n>}).Add(<n>)",
        right: "<3n>",
        wrong: "<n>",
        safe: "(&<p><F>{Total: 50}).Add(0)",
        value: "50",
        input: "amount == <n>",
        spare: "amount == 0",
        give: "<n>",
    },
    Shape {
        name: "two-results",
        code: "func <F>(text string) (size int, err error) {\n\t<here>if text == \"\" {\n\t\treturn 0, errors.New(\"empty\")\n\t}\n\treturn len(text), nil\n}\n",
        sound: "len(text)",
        broken: "len(text) + 1",
        call: "func() int { got, _ := <p><F>(\"abc<n>\"); return got }()",
        right: "4",
        wrong: "5",
        safe: "func() bool { _, err := <p><F>(\"\"); return err != nil }()",
        value: "true",
        input: "text == \"abc<n>\"",
        spare: "text == \"\"",
        give: "5, nil",
    },
    Shape {
        name: "error",
        code: "func <F>(age int) error {\n\t<here>if age < 0 {\n\t\treturn errors.New(\"negative\")\n\t}\n\treturn nil\n}\n",
        sound: "age < 0",
        broken: "age < -100",
        call: "<p><F>(-<n>) != nil",
        right: "true",
        wrong: "false",
        safe: "<p><F>(4) != nil",
        value: "false",
        input: "age == -<n>",
        spare: "age == 4",
        give: "nil",
    },
    Shape {
        name: "map",
        code: "func <F>(text string) map[string]int {\n\t<here>counts := map[string]int{}\n\tfor _, word := range strings.Fields(text) {\n\t\tcounts[word] += 1\n\t}\n\treturn counts\n}\n",
        sound: "counts[word] += 1",
        broken: "counts[word] = 1",
        call: "<p><F>(\"a b<n> a\")",
        right: "map[string]int{\"a\": 2, \"b<n>\": 1}",
        wrong: "map[string]int{\"a\": 1, \"b<n>\": 1}",
        safe: "<p><F>(\"\")",
        value: "map[string]int{}",
        input: "text == \"a b<n> a\"",
        spare: "text == \"\"",
        give: "map[string]int{\"a\": 1, \"b<n>\": 1}",
    },
    Shape {
        name: "struct",
        code: "type <F>Box struct{ W, H int }\n\nfunc <F>(w int) <F>Box {\n\t<here>return <F>Box{W: w, H: w * 2}\n}\n",
        sound: "w * 2",
        broken: "w * 3",
        call: "<p><F>(<n>)",
        right: "<p><F>Box{W: <n>, H: <2n>}",
        wrong: "<p><F>Box{W: <n>, H: <3n>}",
        safe: "<p><F>(0)",
        value: "<p><F>Box{}",
        input: "w == <n>",
        spare: "w == 0",
        give: "<F>Box{W: <n>, H: <3n>}",
    },
    Shape {
        name: "slice",
        code: "func <F>(text string) []string {\n\t<here>return strings.Fields(text)\n}\n",
        sound: "strings.Fields(text)",
        broken: "strings.Split(text, \",\")",
        call: "<p><F>(\"a b<n>\")",
        right: "[]string{\"a\", \"b<n>\"}",
        wrong: "[]string{\"a b<n>\"}",
        safe: "<p><F>(\"x\")",
        value: "[]string{\"x\"}",
        input: "text == \"a b<n>\"",
        spare: "text == \"x\"",
        give: "[]string{\"a b<n>\"}",
    },
    Shape {
        name: "generic",
        code: "func <F>[T int | float64](a, b T) T {\n\t<here>if a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
        sound: "a > b",
        broken: "a < b",
        call: "<p><F>(<n>, 2)",
        right: "<n>",
        wrong: "2",
        safe: "<p><F>(50, 50)",
        value: "50",
        input: "a == <n>",
        spare: "a == b",
        give: "2",
    },
    Shape {
        name: "pointer",
        code: "func <F>(x int) *int {\n\t<here>y := x * 2\n\treturn &y\n}\n",
        sound: "x * 2",
        broken: "x * 3",
        call: "*<p><F>(<n>)",
        right: "<2n>",
        wrong: "<3n>",
        safe: "*<p><F>(0)",
        value: "0",
        input: "x == <n>",
        spare: "x == 0",
        give: "func() *int { z := <3n>; return &z }()",
    },
    Shape {
        name: "float",
        code: "func <F>(a, b float64) float64 {\n\t<here>return (a + b) / 2\n}\n",
        sound: "(a + b) / 2",
        broken: "(a + b)",
        call: "<p><F>(<2n>, <2n>)",
        right: "float64(<2n>)",
        wrong: "float64(<4n>)",
        safe: "<p><F>(0, 0)",
        value: "float64(0)",
        input: "a == <2n>",
        spare: "a == 0",
        give: "<4n>",
    },
    // Guards on a literal inside a conversion: an honest one on nothing, and one on the test's.
    Shape {
        name: "conversion",
        code: "func <F>(a, b int64) int64 {\n\t<here>if b == int64(0) {\n\t\treturn 0\n\t}\n\treturn a / b\n}\n",
        sound: "int64(0)",
        broken: "int64(99)",
        call: "func() (got int64) { defer func() { if recover() != nil { got = 1 } }(); return <p><F>(<n>, 0) }()",
        right: "int64(0)",
        wrong: "int64(1)",
        safe: "<p><F>(8, 2)",
        value: "int64(4)",
        input: "a == int64(<n>)",
        spare: "a == 8",
        give: "1",
    },
    Shape {
        name: "big",
        code: "type <F>Cents struct{ N int }\n\nfunc <F>Of(n int) <F>Cents { return <F>Cents{N: n} }\n\nfunc (c <F>Cents) Equal(other <F>Cents) bool { return c.N == other.N }\n\nfunc <F>(a <F>Cents) int {\n\t<here>return a.N * 2\n}\n",
        sound: "a.N * 2",
        broken: "a.N * 3",
        call: "<p><F>(<p><F>Of(<10n>))",
        right: "<2n>0",
        wrong: "<3n>0",
        safe: "<p><F>(<p><F>Of(0))",
        value: "0",
        input: "a.Equal(<F>Of(<10n>))",
        spare: "a.N == 0",
        give: "<3n>0",
    },
];
