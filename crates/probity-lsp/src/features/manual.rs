//! Help for instructions, their flags and the options of mounts, as hovers and completion show it.

use probity_dockerfile::Keyword;

/// What one instruction is for.
pub(super) struct Page {
    pub(super) keyword: Keyword,
    pub(super) syntax: &'static str,
    pub(super) about: &'static str,
    pub(super) flags: &'static [Entry],
}

/// A name and what it means; for a flag with values, also those.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) values: &'static [&'static str],
}

const fn entry(name: &'static str, about: &'static str, values: &'static [&'static str]) -> Entry {
    Entry { name, about, values }
}

pub(super) fn page(keyword: Keyword) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.keyword == keyword)
}

pub(super) fn flag(keyword: Keyword, name: &str) -> Option<&'static Entry> {
    page(keyword)?.flags.iter().find(|flag| flag.name == name)
}

/// The options of a mount of this type; those of every type where none is given.
pub(super) fn mount_options(kind: Option<&str>) -> impl Iterator<Item = &'static Entry> {
    let kind = kind.unwrap_or("bind").to_owned();
    let own = MOUNTS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, options)| options);
    COMMON_MOUNT.iter().chain(own)
}

pub(super) const MOUNT_TYPES: &[&str] = &["bind", "cache", "tmpfs", "secret", "ssh"];

const PLATFORMS: &[&str] = &["linux/amd64", "linux/arm64", "$BUILDPLATFORM", "$TARGETPLATFORM"];

const COMMON_MOUNT: &[Entry] = &[entry("type", "What is mounted; `bind` if absent", MOUNT_TYPES)];

const TARGET: Entry = entry("target", "Path in the container at which the mount appears", &[]);
const SOURCE: Entry = entry("source", "Path in `from` that is mounted; its root if absent", &[]);
const FROM: Entry = entry("from", "Stage, image or named context that the files come from", &[]);
const ID: Entry = entry("id", "Name by which the build finds it; the target if absent", &[]);
const REQUIRED: Entry =
    entry("required", "Fail the instruction if it is not available", &["true", "false"]);
const MODE: Entry = entry("mode", "File mode in octal", &[]);
const UID: Entry = entry("uid", "Owner, as a UID", &[]);
const GID: Entry = entry("gid", "Group, as a GID", &[]);
const READONLY: Entry = entry("readonly", "Mount without write access", &["true", "false"]);

const MOUNTS: &[(&str, &[Entry])] = &[
    (
        "bind",
        &[
            TARGET,
            SOURCE,
            FROM,
            entry("rw", "Allow writes; they are discarded after the instruction", &[]),
        ],
    ),
    (
        "cache",
        &[
            TARGET,
            ID,
            entry(
                "sharing",
                "What happens if two builds use the cache: share it, get one each, or wait",
                &["shared", "private", "locked"],
            ),
            FROM,
            SOURCE,
            READONLY,
            MODE,
            UID,
            GID,
        ],
    ),
    ("tmpfs", &[TARGET, entry("size", "Maximum size in bytes", &[])]),
    (
        "secret",
        &[
            ID,
            TARGET,
            entry("env", "Environment variable that gets the value instead of a file", &[]),
            REQUIRED,
            MODE,
            UID,
            GID,
        ],
    ),
    ("ssh", &[ID, TARGET, REQUIRED, MODE, UID, GID]),
];

const CHOWN: Entry =
    entry("chown", "Owner and group of the files, as `user:group`; root if absent", &[]);
const CHMOD: Entry = entry("chmod", "Mode of the files, in octal or symbolic", &[]);
const LINK: Entry =
    entry("link", "Put the files in a layer of their own, which survives a new base image", &[]);
const PARENTS: Entry =
    entry("parents", "Keep the directories of the sources; `/./` marks where they begin", &[]);
const EXCLUDE: Entry = entry("exclude", "Leave out files that match the pattern", &[]);

const PAGES: &[Page] = &[
    Page {
        keyword: Keyword::From,
        syntax: "FROM [--platform=PLATFORM] IMAGE[:TAG][@DIGEST] [AS NAME]",
        about: "Begins a stage. The stage starts with the files and settings of IMAGE, which can \
                be an earlier stage. Only the last stage becomes the image.",
        flags: &[entry("platform", "Platform of the base image", PLATFORMS)],
    },
    Page {
        keyword: Keyword::Run,
        syntax: "RUN [FLAGS] COMMAND\nRUN [\"PROGRAM\", \"ARGUMENT\", …]",
        about: "Runs a command and stores the files that it changes as a layer. The first form \
                runs in the stage's shell, the second without one.",
        flags: &[
            entry("mount", "Mount files, a cache or a secret for this command only", &[]),
            entry("network", "Network of the command", &["default", "none", "host"]),
            entry("security", "Run with or without the sandbox", &["sandbox", "insecure"]),
            entry("device", "Give the command a device (CDI)", &[]),
        ],
    },
    Page {
        keyword: Keyword::Copy,
        syntax: "COPY [FLAGS] SOURCE… DESTINATION\nCOPY [FLAGS] [\"SOURCE\", …, \"DESTINATION\"]",
        about: "Copies files from the build context, or from another stage or image with \
                `--from`. With several sources the destination has to end with `/`.",
        flags: &[
            entry("from", "Stage, image or named context to copy from", &[]),
            CHOWN,
            CHMOD,
            LINK,
            PARENTS,
            EXCLUDE,
        ],
    },
    Page {
        keyword: Keyword::Add,
        syntax: "ADD [FLAGS] SOURCE… DESTINATION",
        about: "Copies files like COPY, downloads URLs and git repositories, and unpacks local \
                archives.",
        flags: &[
            entry("checksum", "Digest that a download must have, as `sha256:…`", &[]),
            entry("keep-git-dir", "Keep the `.git` directory of a repository", &["true", "false"]),
            entry("unpack", "Unpack an archive, or keep it packed", &["true", "false"]),
            CHOWN,
            CHMOD,
            LINK,
            EXCLUDE,
        ],
    },
    Page {
        keyword: Keyword::Arg,
        syntax: "ARG NAME[=DEFAULT] …",
        about: "Declares a build argument, which `--build-arg` sets. It is visible from here to the \
                end of the stage and not in the container. Before the first FROM, only FROM \
                sees it; a stage declares it again to use it.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Env,
        syntax: "ENV KEY=VALUE …",
        about: "Sets environment variables for the rest of the stage, for stages based on it, and \
                for the container.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Workdir,
        syntax: "WORKDIR PATH",
        about: "Sets the working directory of the instructions that follow and of the container, \
                and creates it. A relative path starts at the previous one.",
        flags: &[],
    },
    Page {
        keyword: Keyword::User,
        syntax: "USER USER[:GROUP]",
        about: "Sets the user of the RUN, CMD and ENTRYPOINT instructions that follow and of the \
                container. COPY and ADD still create files that belong to root.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Cmd,
        syntax: "CMD [\"PROGRAM\", \"ARGUMENT\", …]\nCMD COMMAND",
        about: "Sets the default command of the container, or the default arguments of its \
                ENTRYPOINT. Only the last one of a stage counts.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Entrypoint,
        syntax: "ENTRYPOINT [\"PROGRAM\", \"ARGUMENT\", …]\nENTRYPOINT COMMAND",
        about: "Sets the program that the container runs. In the second form a shell runs it, \
                which ignores CMD and does not pass signals on. It resets a CMD of the base image.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Expose,
        syntax: "EXPOSE PORT[/PROTOCOL] …",
        about: "Documents the ports that the container listens on. It publishes none of them.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Volume,
        syntax: "VOLUME PATH …\nVOLUME [\"PATH\", …]",
        about: "Declares paths whose data lives outside of the container's layers. Instructions \
                after it cannot change what the image has at these paths.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Label,
        syntax: "LABEL KEY=VALUE …",
        about: "Adds metadata to the image.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Shell,
        syntax: "SHELL [\"PROGRAM\", \"ARGUMENT\", …]",
        about: "Sets the shell of the RUN, CMD and ENTRYPOINT instructions in shell form that \
                follow.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Healthcheck,
        syntax: "HEALTHCHECK [FLAGS] CMD COMMAND\nHEALTHCHECK NONE",
        about: "Sets the command by which the engine tests whether the container works. Only the \
                last one of a stage counts.",
        flags: &[
            entry("interval", "Time between two checks [default: 30s]", &[]),
            entry("timeout", "Time limit of one check [default: 30s]", &[]),
            entry("start-period", "Time in which failures do not count [default: 0s]", &[]),
            entry("start-interval", "Time between checks in the start period [default: 5s]", &[]),
            entry("retries", "Failures in a row until it is unhealthy [default: 3]", &[]),
        ],
    },
    Page {
        keyword: Keyword::Stopsignal,
        syntax: "STOPSIGNAL SIGNAL",
        about: "Sets the signal that stops the container; SIGTERM if absent.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Onbuild,
        syntax: "ONBUILD INSTRUCTION",
        about: "Stores an instruction that runs at the start of every build based on this image.",
        flags: &[],
    },
    Page {
        keyword: Keyword::Maintainer,
        syntax: "MAINTAINER NAME",
        about: "Deprecated. Use `LABEL org.opencontainers.image.authors=NAME`.",
        flags: &[],
    },
];
