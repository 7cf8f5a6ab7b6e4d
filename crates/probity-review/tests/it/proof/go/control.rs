//! Whether a failing Go test rests on what the code returns.

use probity_review::{Claim, Control, Outcome};

use super::{
    super::stage::{claim, line},
    repository, test,
};

#[test]
fn a_failure_that_no_value_of_the_code_can_change_proves_nothing() {
    let stage = repository();
    let helpers = "\nfunc fail(t *testing.T) { t.Fatal(\"broken\") }\n\n\
        func one() int { return 1 }\n\nfunc check(t *testing.T, got, want int) {\n\
        \tif got != want {\n\t\tt.Errorf(\"got %d, want %d\", got, want)\n\t}\n}\n";
    let table: &[(&str, &str, bool)] = &[
        ("local", "\tSub(1, 1)\n\tx := 1\n\tif x != 2 {\n\t\tt.Fatal(\"no\")\n\t}", false),
        ("helper", "\tSub(1, 1)\n\tfail(t)", false),
        ("helped", "\tSub(1, 1)\n\tcheck(t, one(), 2)", false),
        ("part", "\tSub(1, 1)\n\tt.Run(\"a\", func(t *testing.T) { t.Fatal(\"no\") })", false),
        (
            "table",
            "\tfor _, want := range []int{2, 3} {\n\t\tSub(1, want)\n\t\tif one() != want {\n\
             \t\t\tt.Errorf(\"want %d\", want)\n\t\t}\n\t}",
            false,
        ),
        ("closure", "\tSub(1, 1)\n\tbad := func() { t.Fatal(\"no\") }\n\tbad()", false),
        ("deferred", "\tdefer t.Fatal(\"no\")\n\tSub(1, 1)", false),
        (
            "logged",
            "\tt.Logf(\"got %d\", Sub(1, 1))\n\tif one() != 2 {\n\t\tt.Fatal(\"no\")\n\t}",
            false,
        ),
        ("printed", "\tfmt.Println(Sub(1, 1))\n\tfail(t)", false),
        ("itself", "\tif Sub(3, 1) != Sub(3, 1)+one() {\n\t\tt.Fatal(\"no\")\n\t}", false),
        ("crash", "\tSub(1, 1)\n\tvar p *int\n\tfmt.Println(*p)", false),
        ("lists", "\tSub(1, 1)\n\tvalues := []int{}\n\tfmt.Println(values[one()])", false),
        (
            "moving",
            "\tgot := Sub(3, 1)\n\twant := got + one()\n\tif got != want {\n\
             \t\tt.Fatalf(\"got %d, want %d\", got, want)\n\t}",
            false,
        ),
        // True ones, among them those whose complaint names no value and those that return nothing.
        ("silent", "\tif Sub(3, 1) != 2 {\n\t\tt.Fatal(\"no\")\n\t}", true),
        ("checked", "\tcheck(t, Sub(3, 1), 2)", true),
        ("in-part", "\tt.Run(\"a\", func(t *testing.T) { check(t, Sub(3, 1), 2) })", true),
        ("computed", "\tif Sub(3, 1) != 1+one() {\n\t\tt.Fatal(\"no\")\n\t}", true),
        ("nothing", "\tif New() == nil {\n\t\tt.Fatal(\"got nil\")\n\t}", true),
        ("failure", "\tif err := Check(); err != nil {\n\t\tt.Fatal(\"failed\")\n\t}", true),
        (
            "stepwise",
            "\tgot := Sub(3, 2)\n\twant := Sub(3, 1) - one()\n\tif got != want {\n\
             \t\tt.Fatalf(\"got %d, want %d\", got, want)\n\t}",
            true,
        ),
        (
            "cases",
            "\tfor _, c := range [][3]int{{1, 0, 1}, {3, 1, 2}} {\n\
             \t\tif Sub(c[0], c[1]) != c[2] {\n\t\t\tt.Fatal(\"bad\")\n\t\t}\n\t}",
            true,
        ),
    ];
    let on = |(id, body, _): &(&str, &str, bool)| {
        let line = if body.contains("New()") { 19 } else { 11 };
        Claim { line, ..claim(id, "calc.go", &(test(body) + helpers)) }
    };
    let claims: Vec<Claim> = table.iter().map(on).collect();
    let verdicts = stage.prove(&claims);
    let mut wrong = Vec::new();
    for ((id, _, proven), verdict) in table.iter().zip(&verdicts) {
        if (verdict.outcome, verdict.proven) != (Outcome::Failed, *proven) {
            wrong.push(format!(
                "{id}: {} {:?}\n{}",
                line(verdict),
                verdict.control,
                verdict.output
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (verdict, constant) in verdicts.iter().zip(table.iter().map(|row| !row.2)) {
        let shown = match &verdict.control {
            Control::Depends(_) => !constant,
            // Some are known for what they are before anything is altered.
            Control::Constant(_) | Control::Moving(_) | Control::NotTried => constant,
            Control::Unlike | Control::Unavailable(_) => false,
        };
        assert!(shown, "{}: {:?}", verdict.id, verdict.control);
    }
}

#[test]
fn what_is_only_declared_counts_if_the_test_rests_on_it() {
    let stage = repository();
    stage.write("limits.go", "package calc\n\nconst (\n\tLimit = 10\n\tLeast = 1\n)\n");
    stage.commit();
    let marshal = "\ttext, _ := json.Marshal(Paid{1})\n";
    let with_json =
        |body: &str| test(body).replace("\t\"fmt\"\n", "\t\"encoding/json\"\n\t\"fmt\"\n");
    let at = |line: u32, claim: Claim| Claim { line, ..claim };
    let own = "if os.Getenv(\"NOPE\") == \"\" {\n\t\tt.Fatal(1)\n\t}";
    let claims = [
        at(
            26,
            claim(
                "tag",
                "calc.go",
                &with_json(&format!(
                    "{marshal}\tif string(text) != `{{\"paid_at\":1}}` {{\n\t\tt.Fatal(1)\n\t}}"
                )),
            ),
        ),
        at(26, claim("own", "calc.go", &with_json(&format!("{marshal}\t_ = text\n\t{own}")))),
        at(4, claim("limit", "limits.go", &test("\tif Limit != 20 {\n\t\tt.Fatal(1)\n\t}"))),
        at(5, claim("other", "limits.go", &test("\tif Limit != 20 {\n\t\tt.Fatal(1)\n\t}"))),
        at(4, claim("apart", "limits.go", &test(&format!("\t_ = Limit\n\t{own}")))),
    ];
    let verdicts = stage.prove(&claims);
    let proven: Vec<_> = verdicts.iter().map(|it| (it.id.as_str(), it.proven)).collect();
    let expected =
        [("tag", true), ("own", false), ("limit", true), ("other", false), ("apart", false)];
    assert_eq!(proven, expected, "{:#?}", verdicts.iter().map(line).collect::<Vec<_>>());
}
