//! A proof that is killed in the middle of a build: podman's and buildah's builders end with it, and
//! leave containers without a label.

use std::process::{Command, Output};

use super::{
    buildah::{client::Buildah, import},
    *,
};

/// A machine on which a build can be killed.
struct Machine<'m> {
    path: String,
    /// Names of all containers, those of builds too.
    containers: &'m dyn Fn() -> Vec<String>,
    images: &'m dyn Fn() -> Vec<String>,
}

#[test]
fn gc_removes_the_containers_of_a_killed_podman_build() {
    let server = Server::podman();
    images(|words| server.says(words).0);
    let at = |name: &str| server.place.path().join(name);
    let made: Output = Command::new("/usr/bin/buildah")
        .arg("--root")
        .arg(at("root"))
        .arg("--runroot")
        .arg(at("runroot"))
        .args(["from", "--pull-never", "--name", "users", IMAGE])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let names = ["ps", "-a", "--external", "--format", "{{.Names}}"];
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    let client = server.client.parent().unwrap().display().to_string();
    killed(&Machine {
        path: format!("{client}:{}", std::env::var("PATH").unwrap()),
        containers: &|| lines(server.says(&names).1),
        images: &|| images_of(&server),
    });
}

#[test]
fn gc_removes_the_containers_of_a_killed_buildah_build() {
    let buildah = Buildah::new();
    import(&buildah);
    images(|words| !buildah.says(words).is_empty() || words[0] == "tag");
    buildah.says(&["from", "--pull-never", "--name", "users", IMAGE]);
    let names = ["containers", "-a", "-n", "--format", "{{.ContainerName}}"];
    killed(&Machine {
        path: buildah.client().parent().unwrap().display().to_string(),
        containers: &|| buildah.says(&names).lines().map(str::to_owned).collect(),
        images: &|| {
            let mut images = buildah.images();
            images.sort_unstable();
            images
        },
    });
}

fn killed(machine: &Machine<'_>) {
    assert_eq!((machine.containers)(), ["users"]);
    let before = (machine.images)();
    let stage = self::stage(&[]);
    fs::write(stage.path().join("home/good"), two_stages("debian:12-slim")).unwrap();
    fs::write(stage.path().join("slow"), "").unwrap();
    let run = probity().dir(stage.path()).args(["image", "diff", "Dockerfile", "home/good"]);
    let mut command = with_path(&machine.path, stage.path(), run).into_command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    wait_for("the build never began", is_building);
    let gc = |more: &[&str]| {
        let run = named("cai").dir(stage.path()).args(["gc"]).args(more);
        with_path(&machine.path, stage.path(), run).run().code(0).stdout
    };
    let building = (machine.containers)();
    assert!(building.len() > 1, "{building:?}");
    gc(&[]);
    assert_eq!((machine.containers)(), building, "a living proof is left alone");
    assert!(is_building());

    child.kill().unwrap();
    child.wait().unwrap();
    // The watchdog ends the builder, and nobody ends what it runs.
    wait_for("the builder runs on", || !is_running("localhost/probity-proof:"));
    assert_eq!((machine.containers)(), building, "the bait is there");
    let told = gc(&["--dry-run"]);
    assert_eq!(told.matches("build container").count(), building.len() - 1, "{told}");
    assert_eq!((machine.containers)(), building, "nothing is removed in a dry run");
    gc(&[]);
    assert_eq!((machine.containers)(), ["users"], "ours are removed, and only they");
    assert_eq!((machine.images)(), before);
    wait_for("the command of the build runs on", || !is_building());
    assert!(!gc(&[]).contains("of a proof"));
}
