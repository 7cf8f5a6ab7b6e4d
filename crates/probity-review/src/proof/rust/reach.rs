//! Whether a failing test runs the flagged code: by marks, and by what constants hold.

use probity_sandbox::Exit;

use super::{
    super::{
        Control, Evidence, Outcome, Reach,
        alter::{self, Answer, Literals, Watch},
        untrusted,
    },
    Case, Rust, arguments, constants,
    control::{ARMED, BY_CONSTANT, CONSTANT, DEPENDS},
    declarations,
    marks::{self, Marking},
    own,
};

impl Rust {
    /// Compiles the flagged file with marks, and with the switches of the control.
    pub(super) fn reached(&self, case: &Case<'_>) -> Reach {
        let Case { bench, site, placed, built, last } = case;
        let unmeasured = |why: &str| Reach::Unmeasured(why.to_owned());
        let file = &placed.flagged.file;
        let Ok(source) = untrusted::read(&site.repo, file) else {
            return unmeasured("the flagged file cannot be read");
        };
        let report = site.seen_out.join(&self.channel.name).display().to_string();
        let switches = self.switches(placed, &source);
        let behind: Vec<(usize, String)> =
            switches.into_iter().map(|(at, text, _)| (at, text)).collect();
        let compiled = |behind: &[(usize, String)], constants: bool| -> Option<bool> {
            let (report, name, leaving) = (&report, &self.channel.name, last.crashed);
            let marked = Marking { report, name, behind, leaving, constants }.mark(&source)?;
            let done = site
                .write(file, &marked)
                .and_then(|()| self.compile(bench, site, placed))
                .map(|(ran, _)| ran.exit);
            // No test may see what is not there in the other runs.
            site.write(file, &source).ok();
            Some(done == Ok(Exit::Code(0)))
        };
        // It may be the switches that do not compile, or functions that have to be constant.
        let variants: [(&[(usize, String)], bool); 3] =
            [(&behind, true), (&behind, false), (&[], false)];
        let skipped = usize::from(!marks::has_constants(&source));
        let tried = variants.into_iter().skip(skipped);
        let mut done = Vec::new();
        let variant = tried.into_iter().find(|(behind, constants)| {
            let compiles = compiled(behind, *constants);
            done.push(compiles);
            compiles == Some(true)
        });
        let armed = variant.filter(|(behind, _)| !behind.is_empty());
        if armed.is_some() {
            // The control works with the same program.
            untrusted::write(&site.out, ARMED, &source).ok();
        }
        let reach = if variant.is_some() {
            let arguments = arguments(&built.test);
            if self.execute(bench, site, placed, &built.program, &arguments, None).is_err() {
                return unmeasured("the marked test does not run");
            }
            let told = untrusted::read(&site.out, &self.channel.name);
            marks::reach(&told.unwrap_or_default(), &placed.flagged)
        } else if done.contains(&Some(false)) {
            unmeasured("the flagged file does not compile with marks in it")
        } else {
            unmeasured("the flagged file has no function")
        };
        let again = || {
            if let Some((behind, constants)) = armed {
                compiled(behind, constants);
            }
        };
        let reach = self.reach_constants(case, &source, reach, &again);
        Self::reach_declarations(case, &source, reach)
    }

    /// Reach, if the flagged lines declare a type or a macro, which is never run itself: whether the
    /// test uses it cannot be measured, if it looks at it.
    fn reach_declarations(case: &Case<'_>, source: &str, reach: Reach) -> Reach {
        let Case { placed, last, .. } = case;
        let bare = marks::bare(source);
        let names = declarations::flagged(&bare, &placed.flagged);
        let lines = last.mark.complaints.iter().flat_map(|(lines, _)| lines).copied().collect();
        if reach != Reach::NotReached || !own::looks_at(&placed.source, &lines, &names) {
            return reach;
        }
        Reach::Unmeasured("the flagged lines declare what is not run itself".to_owned())
    }

    /// Reach, if the flagged lines declare constants, which no mark can be in. One that the test
    /// names is reached, and so is one that changes what the test does. If there are such, the
    /// program is another one afterwards, unless it is made again.
    fn reach_constants(
        &self,
        case: &Case<'_>,
        source: &str,
        reach: Reach,
        again: &dyn Fn(),
    ) -> Reach {
        let Case { site, placed, last, .. } = case;
        let constants = constants::flagged(source, &placed.flagged);
        if constants.is_empty()
            || last.crashed
            || matches!(reach, Reach::Reached { lines: true, .. })
        {
            return reach;
        }
        let control = self.alter_constants(case, source, &constants);
        let words = alter::words(&placed.source);
        let named = constants.iter().any(|it| words.contains(&it.name));
        let plain = constants.iter().all(constants::Constant::is_plain);
        let kept = match &control {
            Control::Depends(how) => format!("{DEPENDS}{}", how.replace(" returns ", " is ")),
            // A table may be looked at in ways that no other literals change.
            Control::Constant(names) | Control::Moving(names) if plain && named => {
                format!("{CONSTANT}{names}")
            }
            _ => {
                again();
                String::new()
            }
        };
        untrusted::write(&site.out, BY_CONSTANT, &kept).ok();
        match control {
            Control::Depends(_) => Reach::Reached { by: Evidence::Coverage, lines: true },
            _ if named => Reach::Reached { by: Evidence::Coverage, lines: true },
            _ => reach,
        }
    }

    /// What the test does if these constants hold something else.
    fn alter_constants(
        &self,
        case: &Case<'_>,
        source: &str,
        constants: &[constants::Constant],
    ) -> Control {
        let Case { bench, site, placed, last, .. } = case;
        let literals = Literals::of(&placed.source, &last.mark.text());
        let mut watch = Watch::of(last).at_most(usize::MAX);
        let with = |text: &str| {
            let compiled = site
                .write(&placed.flagged.file, text)
                .and_then(|()| self.compile(bench, site, placed))
                .is_ok_and(|(ran, _)| ran.exit == Exit::Code(0));
            // No test may see what is not there in the other runs.
            site.write(&placed.flagged.file, source).ok();
            compiled.then(|| self.again(case, None).0)
        };
        for constant in constants {
            for (value, altered) in constant.others(source, &literals) {
                let Some(trial) = with(&altered) else { continue };
                watch.saw(&constant.name, Answer::Value(&value), trial.outcome, &trial.mark);
                if trial.outcome != Outcome::Passed {
                    continue;
                }
                // Unless it passes by now whatever the code is.
                return match with(source) {
                    Some(same) if same.outcome == Outcome::Failed => {
                        watch.end("no other value compiles")
                    }
                    _ => Control::Constant(constant.name.clone()),
                };
            }
        }
        watch.end("no other value compiles")
    }
}
