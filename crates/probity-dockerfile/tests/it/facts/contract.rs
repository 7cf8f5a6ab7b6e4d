//! The image contract: what it must see, and what it must not.

use probity_dockerfile::{Facts, ImageContract, parse};

fn contract(text: &str) -> ImageContract {
    Facts::of(&parse(text)).contract().clone()
}

#[test]
fn what_does_not_change_the_image_does_not_change_the_contract() {
    let cases = [
        ("FROM a\nRUN x\n", "# c\n\nfrom a\n\n# d\nrun x\n"),
        (
            "FROM a AS B\nCOPY x /\nFROM b\nCOPY --from=B / /",
            "FROM a as b\nCOPY x /\nFROM b\nCOPY --from=0 / /",
        ),
        ("FROM a\nENV k v w\n", "FROM a\nENV k=\"v w\"\n"),
        ("FROM a\nLABEL k v\n", "FROM a\nLABEL \"k\"='v'\n"),
        ("FROM a\nENV a=1\nENV b=2\n", "FROM a\nENV a=1 \\\n  b=2\n"),
        ("FROM a\nRUN a && \\\n b\n", "FROM a\nRUN a && \\\n# why\n b\n"),
        ("FROM a\nLABEL a=1 b=2\nLABEL c=3", "FROM a\nLABEL c=3 b=2\nLABEL a=1"),
        ("FROM a\nEXPOSE 80 443/TCP", "FROM a\nEXPOSE 443\nEXPOSE 80/tcp"),
        ("FROM a\nENV P=$PATH:/x", "FROM a\nENV P=${PATH}:/x"),
        ("FROM a\nENV D=/d\nCOPY a $D/b", "FROM a\nENV D=/d\nCOPY a /d/b"),
        ("FROM a\nCMD x\nLABEL a=1", "FROM a\nLABEL a=1\nCMD x"),
        ("# hadolint shell=bash\nFROM a\nRUN x", "FROM a\nRUN x"),
        ("FROM a\nRUN x\r\nCMD y\r\n", "FROM a\nRUN x\nCMD y\n"),
    ];
    for (before, after) in cases {
        let (left, right) = (contract(before), contract(after));
        assert_eq!(left.differences(&right), Vec::<String>::new(), "{before}\n---\n{after}");
        assert_eq!(left, right);
    }
}

#[test]
fn what_changes_the_image_changes_the_contract() {
    let cases = [
        ("FROM a\nRUN a && \\\n b\n", "FROM a\nRUN a &&\n"),
        ("FROM a\nENV x=1\nRUN y\n", "FROM a\nRUN y\nENV x=1\n"),
        ("FROM a\nENV x=1\nENV y=$x\n", "FROM a\nENV x=1 y=$x\n"),
        ("FROM a\nLABEL l=\"v\"\n", "FROM a\nLABEL l=\"\\\"v\\\"\"\n"),
        ("FROM a\nRUN <<EOF\none\ntwo\nEOF\n", "FROM a\nRUN <<EOF\none\nEOF\n"),
        ("FROM a\nCOPY <<EOF /f\n$x\nEOF\n", "FROM a\nCOPY <<'EOF' /f\n$x\nEOF\n"),
        ("FROM a\nRUN x\n", "FROM a\nRUN [\"x\"]\n"),
        ("FROM a\nRUN x\n", "FROM a\nSHELL [\"bash\", \"-c\"]\nRUN x\n"),
        ("FROM a\nRUN a b\n", "FROM a\nRUN a  b\n"),
        ("FROM a\nRUN --network=none x\n", "FROM a\nRUN x\n"),
        (
            "FROM a\nRUN --mount=type=cache,target=/a x\n",
            "FROM a\nRUN --mount=type=cache,target=/b x\n",
        ),
        ("FROM a\nCOPY a b\n", "FROM a\nADD a b\n"),
        ("FROM a\nCOPY a b c/\n", "FROM a\nCOPY b a c/\n"),
        ("FROM a\nCOPY --chown=1 a b\n", "FROM a\nCOPY a b\n"),
        ("FROM a\nARG x=1\nRUN y\n", "FROM a\nRUN y\n"),
        ("FROM a\nARG x=1\nUSER $x\n", "FROM a\nARG x=1\nUSER 1\n"),
        ("FROM a\nARG x\nLABEL l=$x\n", "FROM a\nLABEL l=$x\nARG x\n"),
        ("FROM a\nARG x\nUSER ${x:-a}\n", "FROM a\nARG x\nUSER ${x:-b}\n"),
        ("ARG v=1\nFROM a:$v\n", "ARG v=2\nFROM a:$v\n"),
        ("ARG v=1\nFROM a:$v\n", "ARG v=1\nFROM a:1\n"),
        ("FROM --platform=linux/arm64 a\n", "FROM a\n"),
        ("FROM a AS x\nFROM b AS y\nFROM x\n", "FROM a AS x\nFROM b AS y\nFROM y\n"),
        ("FROM a\nONBUILD RUN x\n", "FROM a\nONBUILD RUN y\n"),
        ("FROM a\nMAINTAINER x\n", "FROM a\nMAINTAINER y\n"),
        ("FROM a\nWORKDIR /x\nRUN y\n", "FROM a\nRUN y\nWORKDIR /x\n"),
        ("FROM a\nUSER x\nRUN y\n", "FROM a\nRUN y\nUSER x\n"),
        ("FROM a\nHEALTHCHECK --interval=1s CMD x\n", "FROM a\nHEALTHCHECK CMD x\n"),
        ("FROM a\nENV a=1\nENV b=1\n", "FROM a\nENV b=1\nENV a=1\n"),
        ("# syntax=docker/dockerfile:1\nFROM a\n", "FROM a\n"),
        ("FROM a\nNONSENSE x\n", "FROM a\n"),
        ("FROM a\nCOPY 'a b' c/\n", "FROM a\nCOPY a b c/\n"),
        ("FROM a\nUSER '$x'\n", "FROM a\nUSER $x\n"),
        ("FROM a\nUSER '${x@0}'\n", "FROM a\nUSER $x\n"),
    ];
    for (before, after) in cases {
        let (left, right) = (contract(before), contract(after));
        assert_ne!(left, right, "{before}\n---\n{after}");
        assert_ne!(left.differences(&right), Vec::<String>::new(), "{before}\n---\n{after}");
        assert_ne!(right.differences(&left), Vec::<String>::new(), "{before}\n---\n{after}");
    }
}

#[test]
fn differences_say_what_changed() {
    let before = "# syntax=x\nARG v=1\nFROM a:$v AS build\nENV x=1 z=2\nRUN one && \\\n two\nCMD c\n\
        LABEL gone=1\nFROM build\n";
    let after =
        "ARG v=2\nFROM b:$v AS build\nENV x=2 z=2\nRUN one\nCMD d\nUSER u\nFROM a\nFROM b\n";
    let found = contract(before).differences(&contract(after));
    insta::assert_snapshot!(found.join("\n"), @r"
    the syntax directive `x` is gone
    before the first FROM `ARG v=1` became `ARG v=2`
    the number of stages was 2 and is 3
    in stage 0 (build) the base was `a:${v@1}` and is `b:${v@1}`
    in stage 0 (build) `CMD c` became `CMD d`
    in stage 0 (build) `ENV x=1` became `ENV x=2`
    in stage 0 (build) `LABEL gone=1` is gone
    in stage 0 (build) `USER u` is new
    in stage 1 the base was `stage 0` and is `a`
    ");
}
