//! Dockerfile text in; a lossless tree and the facts about it out.
//!
//! The parser follows BuildKit's algorithm; the tree keeps every byte, so that a fix is an edit of
//! spans and nothing else.
//!
//! **Invariant:** parsing cannot fail: broken input is a tree plus syntax errors. This crate opens
//! nothing, and facts are computed once per file, never by a rule.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-dockerfile is pure"))]

mod compact;
mod directive;
mod dockerignore;
mod error;
mod expand;
mod facts;
mod flag;
mod heredoc;
mod image;
mod instruction;
mod json;
mod keyword;
mod lines;
mod logical;
mod nearest;
mod parse;
mod platform;
mod token;
mod tree;
mod word;

pub use crate::{
    dockerignore::{
        Dockerignore, DockerignoreError, DockerignoreErrorKind, IgnorePattern, clean_path,
    },
    error::{ErrorKind, SyntaxError},
    expand::{
        ExpandError, ExpandErrorKind, ExpandedWord, Expander, Expansion, Lookup, Operator,
        Reference,
    },
    facts::{
        Action, Base, BuildValues, CommandLine, Entry, ExpansionError, Facts, Graph, Healthcheck,
        ImageContract, Manager, Os, Package, PackageCall, PackageFlag, PackageKind, Runtime,
        RuntimeEntry, Scope, Setting, Shell, ShellSource, ShellText, Stage, StageContract,
        StageReference, StageReferenceKind, State, Step, StepFlag, StepHeredoc, Target, Text,
        Transfer, Value, Variable, VariableKind, VariableReference, Version, Workdir, is_absolute,
    },
    image::{ImageError, ImageRef},
    instruction::{BadPort, check_port},
    keyword::Keyword,
    logical::Logical,
    parse::{parse, parse_shared},
    platform::{Platform, PlatformError},
    token::{Token, TokenKind, Tokens},
    tree::{
        Alias, Arguments, Command, Comment, DetachedTree, Directive, DirectiveName, Dockerfile,
        Flag, FlagOption, Heredoc, Instruction, Pair, Word,
    },
};
