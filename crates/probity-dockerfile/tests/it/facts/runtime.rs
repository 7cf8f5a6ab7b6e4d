//! The settings of the image.

use std::fmt::Write as _;

use probity_dockerfile::{Facts, Setting, parse};

use super::check;

/// Every setting of the final stage, and the source that says so.
fn runtime(text: &str) -> String {
    let mut shown = String::new();
    check(text, |_, facts| {
        for entry in facts.final_runtime().entries() {
            let source = entry.span.slice(text).unwrap();
            writeln!(shown, "{} <- {source}", entry.entry).unwrap();
        }
    });
    shown
}

#[test]
fn all_settings_of_the_final_stage_with_their_places() {
    let text = "FROM a AS base\n\
        ENV A=1 B=\"x y\"\n\
        LABEL b=2 a=1\n\
        EXPOSE 9000/UDP 80 $PORT\n\
        CMD old\n\
        WORKDIR /srv\n\
        MAINTAINER Some One <a@b>\n\
        FROM base\n\
        ENV C=$A B=z\n\
        LABEL a \"new value\"\n\
        ENTRYPOINT [\"/app\", \"-v\"]\n\
        USER 10:10\n\
        HEALTHCHECK --interval=5s CMD curl -f /\n\
        SHELL [\"bash\", \"-c\"]\n\
        STOPSIGNAL SIGINT\n\
        VOLUME /b /a\n\
        EXPOSE 80/tcp 443\n";
    insta::assert_snapshot!(runtime(text), @r#"
    ENTRYPOINT ["/app", "-v"] <- ["/app", "-v"]
    USER 10:10 <- 10:10
    EXPOSE ${PORT@0} <- $PORT
    EXPOSE 80/tcp <- 80/tcp
    EXPOSE 443/tcp <- 443
    EXPOSE 9000/udp <- 9000/UDP
    WORKDIR /srv <- /srv
    ENV A=1 <- A=1
    ENV B=z <- B=z
    ENV C=1 <- C=$A
    LABEL a=new value <- a "new value"
    LABEL b=2 <- b=2
    HEALTHCHECK --interval=5s CMD curl -f / <- HEALTHCHECK --interval=5s CMD curl -f /
    SHELL ["bash", "-c"] <- ["bash", "-c"]
    STOPSIGNAL SIGINT <- SIGINT
    VOLUME /a <- /a
    VOLUME /b <- /b
    MAINTAINER Some One <a@b> <- Some One <a@b>
    "#);
}

#[test]
fn an_entrypoint_drops_the_command_of_the_base_only() {
    assert_eq!(runtime("FROM a AS b\nCMD x\nFROM b\nENTRYPOINT y"), "ENTRYPOINT y <- y\n");
    let own = runtime("FROM a\nCMD x\nENTRYPOINT y");
    assert_eq!(own, "CMD x <- x\nENTRYPOINT y <- y\n");
}

#[test]
fn the_last_of_several_holds() {
    let text = "FROM a\nCMD 1\nCMD [\"2\"]\nHEALTHCHECK CMD x\nHEALTHCHECK NONE\nUSER a\nUSER b\n";
    insta::assert_snapshot!(runtime(text), @r#"
    CMD ["2"] <- ["2"]
    USER b <- b
    HEALTHCHECK NONE <- HEALTHCHECK NONE
    "#);
}

#[test]
fn differences_name_the_settings() {
    let before = "FROM a\nARG V=1\nENV A=$V B=2\nCMD x\nEXPOSE 80\nLABEL l=1\n";
    let cases: [(&str, &[Setting]); 6] = [
        ("FROM z AS b\nFROM q\nARG V=1\nENV B=2 A=${V}\nCMD  x\nEXPOSE 80/tcp\nLABEL l 1\n", &[]),
        ("FROM a\nENV A=$V B=2\nCMD x\nEXPOSE 80\nLABEL l=1\n", &[Setting::Env]),
        ("FROM a\nENV A=1 B=2\nCMD x\nEXPOSE 80\nLABEL l=1\n", &[Setting::Env]),
        (
            "FROM a\nARG V=1\nENV A=$V B=2\nCMD [\"x\"]\nLABEL l=1\n",
            &[Setting::Cmd, Setting::Expose],
        ),
        (
            "FROM a\nARG V=1\nENV A=$V B=2\nSHELL [\"s\"]\nCMD x\nEXPOSE 80\nLABEL l=1\n",
            &[Setting::Cmd, Setting::Shell],
        ),
        ("FROM a\nARG V=1\nENV A=$V B=2\nCMD x\nEXPOSE 80\nLABEL l='\"1\"'\n", &[Setting::Label]),
    ];
    let of = |text: &str| Facts::of(&parse(text)).final_runtime();
    for (after, expected) in cases {
        assert_eq!(of(before).differences(&of(after)), expected, "{after}");
    }
}
