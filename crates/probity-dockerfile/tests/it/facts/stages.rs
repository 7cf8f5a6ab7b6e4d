//! Stages and their bases.

use probity_dockerfile::{Base, Os, Setting};

use super::check;

#[test]
fn a_stage_knows_its_base_its_name_and_its_instructions() {
    let text = "ARG V=3.20\n\
        FROM --platform=$BUILDPLATFORM alpine:${V} AS Build\n\
        RUN a\n\
        FROM build\n\
        FROM scratch AS empty\n\
        FROM $NOWHERE\n\
        FROM $TARGETPLATFORM\n";
    check(text, |_, facts| {
        let bases: Vec<&Base> = facts.stages().iter().map(|stage| &stage.base).collect();
        assert_eq!(
            bases,
            [
                &Base::Image("alpine:3.20".to_owned()),
                &Base::Stage(0),
                &Base::Scratch,
                &Base::Unknown,
                &Base::Unknown,
            ]
        );
        let first = &facts.stages()[0];
        assert_eq!(first.name.as_deref(), Some("Build"));
        assert_eq!(first.key().as_deref(), Some("build"));
        assert_eq!(first.name_span.unwrap().slice(text), Some("Build"));
        assert_eq!(first.image_span.unwrap().slice(text), Some("alpine:${V}"));
        assert_eq!(first.image.open.as_deref(), Some("alpine:${V@1}"));
        let platform = first.platform.as_ref().unwrap();
        assert_eq!((platform.value.as_deref(), platform.pattern()), (None, "${BUILDPLATFORM@1}"));
        assert_eq!(first.instructions, 1..3);
        assert_eq!(facts.stages()[1].root, 0);
        assert_eq!(facts.final_stage().unwrap().index, 4);
        let owners: Vec<Option<usize>> =
            (0..7).map(|index| facts.stage_of(index).map(|stage| stage.index)).collect();
        assert_eq!(owners, [None, Some(0), Some(0), Some(1), Some(2), Some(3), Some(4)]);
    });
}

#[test]
fn a_name_means_the_latest_stage_before() {
    let text = "FROM a AS x\nFROM x AS x\nFROM x\nFROM later\nFROM b AS later\nFROM c AS scratch\n\
        FROM scratch\n";
    check(text, |_, facts| {
        let bases: Vec<&Base> = facts.stages().iter().map(|stage| &stage.base).collect();
        assert_eq!(bases[1], &Base::Stage(0));
        assert_eq!(bases[2], &Base::Stage(1));
        assert_eq!(bases[3], &Base::Image("later".to_owned()));
        assert_eq!(bases[6], &Base::Stage(5));
    });
}

#[test]
fn windows_is_told_by_platform_and_by_name() {
    let cases = [
        ("FROM alpine", Os::Linux),
        ("FROM mcr.microsoft.com/windows/servercore:ltsc2022", Os::Windows),
        ("FROM --platform=windows/amd64 x", Os::Windows),
        ("FROM --platform=linux/amd64 nanoserver", Os::Linux),
        ("FROM nanoserver AS x\nFROM x", Os::Windows),
    ];
    for (text, os) in cases {
        check(text, |_, facts| assert_eq!(facts.final_stage().unwrap().os, os, "{text}"));
    }
}

#[test]
fn the_triggers_of_a_base_run_in_the_stage() {
    let text = "FROM a AS tools\n\
        FROM a AS base\n\
        ONBUILD ENV x=1\n\
        ONBUILD COPY --from=tools /t /t\n\
        ONBUILD USER me\n\
        RUN early $x\n\
        FROM base AS child\n\
        LABEL l=$x\n\
        FROM child\n\
        LABEL m=$x\n";
    check(text, |_, facts| {
        assert!(facts.scope(5).get("x").is_none());
        assert_eq!(facts.scope(7).get("x").unwrap().instruction, Some(2));
        assert!(facts.graph().is_reachable(0));
        let copy = &facts.graph().references_of(2)[1];
        assert_eq!((copy.instruction, copy.span.slice(text)), (3, Some("tools")));
        assert!(facts.graph().references_of(3).iter().all(|reference| reference.instruction != 3));
        let user = &facts.final_runtime().get(Setting::User)[0].clone();
        assert_eq!((user.instruction, user.span.slice(text)), (4, Some("me")));
        assert!(facts.references(6).is_empty());
    });
}
