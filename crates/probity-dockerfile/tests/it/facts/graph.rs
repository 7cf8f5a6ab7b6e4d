//! References between stages.

use probity_dockerfile::{StageReferenceKind, Target};

use super::check;

#[test]
fn references_are_resolved_by_name_by_number_and_to_images() {
    let text = "FROM golang AS Build\n\
        FROM build AS test\n\
        FROM alpine\n\
        COPY --from=BUILD /a /a\n\
        COPY --from=1 /a /a\n\
        COPY --from=9 /a /a\n\
        COPY --from=nginx:1 /a /a\n\
        RUN --mount=type=bind,from=test,target=/t --mount=from=0,target=/u x\n";
    check(text, |_, facts| {
        let found: Vec<(&str, StageReferenceKind, Target)> = facts
            .graph()
            .references_of(2)
            .iter()
            .map(|reference| {
                (reference.span.slice(text).unwrap(), reference.kind, reference.target.clone())
            })
            .collect();
        let image = |name: &str| Target::Image(name.to_owned());
        assert_eq!(
            found,
            [
                ("alpine", StageReferenceKind::From, image("alpine")),
                ("BUILD", StageReferenceKind::Copy, Target::Stage(0)),
                ("1", StageReferenceKind::Copy, Target::StageIndex(1)),
                ("9", StageReferenceKind::Copy, Target::Unknown),
                ("nginx:1", StageReferenceKind::Copy, image("nginx:1")),
                ("test", StageReferenceKind::Mount, Target::Stage(1)),
                ("0", StageReferenceKind::Mount, image("0")),
            ]
        );
        let base = &facts.graph().references_of(1)[0];
        assert_eq!((base.span.slice(text), &base.target), (Some("build"), &Target::Stage(0)));
    });
}

#[test]
fn what_the_final_stage_does_not_need_is_unreachable() {
    let text = "FROM a AS one\nFROM one AS two\nFROM b AS three\nCOPY --from=two / /\n\
        FROM c AS four\nFROM d\nCOPY --from=two / /\n";
    check(text, |_, facts| {
        let reached: Vec<bool> = (0..5).map(|stage| facts.graph().is_reachable(stage)).collect();
        assert_eq!(reached, [true, true, false, false, true]);
    });
}

#[test]
fn circles_and_self_references_are_found() {
    let cases: [(&str, &[&[usize]]); 4] = [
        ("FROM a AS x\nCOPY --from=x / /\nFROM b", &[&[0]]),
        ("FROM a AS x\nCOPY --from=y / /\nFROM b AS y\nCOPY --from=x / /\nFROM c", &[&[0, 1]]),
        ("FROM a AS x\nCOPY --from=z / /\nFROM x AS y\nFROM y AS z\nFROM c", &[&[0, 1, 2]]),
        ("FROM a AS x\nFROM b AS y\nCOPY --from=x / /\nFROM y\nCOPY --from=x / /", &[]),
    ];
    for (text, cycles) in cases {
        check(text, |_, facts| assert_eq!(facts.graph().cycles(), cycles, "{text}"));
    }
}
