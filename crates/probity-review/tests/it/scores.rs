//! The arithmetic, and what reaches the bar.

use probity_review::{Bar, Category, ProvenIssue, ReviewConfig, Risk, score};

fn issues(risks: &[Risk]) -> Vec<ProvenIssue> {
    let issue = |(index, risk): (usize, &Risk)| ProvenIssue {
        id: format!("ISS-{:03}", index + 1),
        severity: *risk,
        title: "t".to_owned(),
        description: String::new(),
        file: "f".to_owned(),
        line: 1,
        end_line: None,
        test_file: "review/tests/t".to_owned(),
        test_name: "t".to_owned(),
        test_output: String::new(),
        category: Category::Correctness,
        fingerprint: String::new(),
        proof: None,
        introduced: None,
        standing: None,
        fix_patch: None,
        test_code: String::new(),
        test_path: String::new(),
        code: String::new(),
    };
    risks.iter().enumerate().map(issue).collect()
}

#[test]
fn a_score_is_ten_minus_what_each_issue_weighs() {
    use Risk::{Critical, High, Low, Medium};
    for (profile, risks, expected) in [
        ("default", &[][..], 10.0),
        ("default", &[Critical], 7.0),
        ("default", &[High], 8.5),
        ("default", &[Medium], 9.0),
        ("default", &[Low], 9.5),
        ("default", &[Critical, High, Medium, Low], 4.0),
        ("default", &[Critical; 4], 0.0),
        ("security", &[Critical, High, Medium, Low], 0.5),
        ("strict", &[Critical, High, Medium, Low], 1.0),
    ] {
        let config = ReviewConfig::profile(profile).unwrap();
        let issues = issues(risks);
        let score = score(&issues, &config.weights, &Bar::DEFAULT);
        assert_eq!(score.value, expected, "{profile} {risks:?}");
        let deducted: Vec<(&str, Risk, f64)> = score
            .deductions
            .iter()
            .map(|deduction| (&*deduction.issue_id, deduction.severity, deduction.points))
            .collect();
        let wanted: Vec<(&str, Risk, f64)> = issues
            .iter()
            .map(|issue| (&*issue.id, issue.severity, config.weights.of(issue.severity)))
            .collect();
        assert_eq!(deducted, wanted);
    }
}

#[test]
fn tenths_leave_no_dust_and_a_weight_of_nothing_takes_nothing() {
    let config = ReviewConfig::profile("default").unwrap();
    let tenths = config.over("severity_weights: { low: 0.1, high: 0 }").unwrap();
    let three = issues(&[Risk::Low, Risk::Low, Risk::Low, Risk::High]);
    assert_eq!(score(&three, &tenths.weights, &Bar::DEFAULT).value, 9.7);
}

#[test]
fn the_bar_is_the_threshold_and_perhaps_no_critical_issue() {
    use Risk::{Critical, High, Low};
    let weights = ReviewConfig::profile("default").unwrap().weights;
    for (risks, threshold, fail_on_critical, fail_on, passes) in [
        (&[High][..], 8.5, false, None, true),
        (&[High], 8.6, false, None, false),
        (&[High], 8.4, true, None, true),
        (&[High], 8.4, false, Some(Critical), true),
        (&[High], 8.4, false, Some(High), false),
        (&[High], 8.4, true, Some(High), false),
        (&[High], 8.4, false, Some(Low), false),
        (&[], 8.4, false, Some(Low), true),
        (&[Critical], 7.0, false, None, true),
        (&[Critical], 7.0, true, None, false),
        (&[Critical], 7.0, false, Some(High), false),
        (&[Critical; 4], 0.0, false, None, true),
        (&[Critical; 4], 0.0, true, None, false),
    ] {
        let bar = Bar { threshold, fail_on_critical, fail_on };
        let score = score(&issues(risks), &weights, &bar);
        assert_eq!(score.pass, passes, "{risks:?} {bar:?}");
    }
}
