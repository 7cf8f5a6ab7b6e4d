//! Libraries that compiled code needs and that compilers bring along.

use super::{
    super::{
        Change,
        commands::{self, Linkage},
        image_kind::ImageKind,
    },
    is_library_copied,
};

/// Those that the final stage lacks.
pub(super) fn run_times_of_compilers(
    change: &Change<'_>,
    kind: &ImageKind,
    now: &[String],
) -> Vec<&'static str> {
    let before = change.before;
    let has = |starts: &[&str]| {
        now.iter().any(|package| starts.iter().any(|start| package.starts_with(start)))
    };
    let is_copied = |name: &str| is_library_copied(change, &format!("{name}-dev"));
    let is_static = commands::linkage_of(change) == Linkage::Static
        || ["-static-libgfortran", "-static "].iter().any(|flag| before.text.contains(flag));
    let is_fortran = before.all_called().any(|call| {
        call.is_any(&["f2py", "gfortran"]) || call.words.iter().any(|word| word.ends_with("f2py"))
    });
    let has_fortran = has(&["libgfortran", "gfortran"]) || is_copied("libgfortran");
    let is_parallel = before.text.contains("-fopenmp") && !kind.is_full();
    let has_openmp = has(&["libgomp", "gcc", "g++", "gfortran", "libgfortran", "build-"])
        || is_copied("libgomp");
    let mut found = Vec::new();
    if is_fortran && !has_fortran && !is_static {
        found.push("libgfortran5");
    }
    if is_parallel && !has_openmp && !is_static {
        found.push("libgomp1");
    }
    // Rust for musl links libgcc statically, but not with `-C target-feature=-crt-static`.
    let is_dynamic_rust = before.text.contains("-crt-static") && kind.is_musl();
    if is_dynamic_rust && !has(&["libgcc", "gcc", "libstdc++", "build-base"]) {
        found.push("libgcc");
    }
    found
}
