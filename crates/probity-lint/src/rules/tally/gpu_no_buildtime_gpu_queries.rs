//! Questions about hardware that a build does not have.

use probity_finding::{Finding, Span};
use probity_shell::Command;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that queries the GPU.
    ///
    /// The rule knows `nvidia-smi`, `nvidia-debugdump`, `nvidia-persistenced`, and Python code
    /// (`python -c`) that asks PyTorch or TensorFlow for devices.
    ///
    /// # Why it is bad
    ///
    /// A build has no access to a GPU. `nvidia-smi` fails, and the frameworks report no device.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nvidia/cuda:12.2.0-runtime-ubuntu22.04
    /// RUN nvidia-smi
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nvidia/cuda:12.2.0-runtime-ubuntu22.04
    /// CMD ["nvidia-smi", "--loop=10"]
    /// ```
    GpuNoBuildtimeGpuQueries {
        name: "tally/gpu/no-buildtime-gpu-queries",
        severity: Error,
        category: Correctness,
        url: "https://tally.wharflab.com/rules/tally/gpu/no-buildtime-gpu-queries/",
    }
}

const PROGRAMS: &[&str] = &["nvidia-debugdump", "nvidia-persistenced", "nvidia-smi"];

/// Functions of frameworks, as Python code calls them.
const FUNCTIONS: &[&str] = &[
    "tf.config.list_physical_devices(",
    "tf.test.is_gpu_available(",
    "torch.cuda.current_device(",
    "torch.cuda.device_count(",
    "torch.cuda.get_device_name(",
    "torch.cuda.is_available(",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
        let mut queries = commands.filter_map(query);
        let Some(first) = queries.next() else { continue };
        let message = "a build has no GPU to ask; ask when the container starts";
        findings.push(context.finding(first, message).with_more_places(queries));
    }
}

/// The program or the code that asks.
fn query(command: &Command) -> Option<Span> {
    let call = command.effective();
    if call.is_any(PROGRAMS) {
        return Some(call.name_word()?.span());
    }
    let name = call.name()?;
    let version = name.strip_prefix("python")?;
    if !version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let asks = |value: &str| FUNCTIONS.iter().any(|function| value.contains(function));
    let flag = call.args().iter().position(|word| word.is("-c"));
    let code = flag.and_then(|flag| call.args().get(flag + 1));
    if let Some(code) = code.filter(|code| asks(&code.prefix())) {
        return Some(code.span());
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/gpu/no-buildtime-gpu-queries";
    const SAYS: &str = "a build has no GPU to ask; ask when the container starts";

    #[test]
    fn programs_and_code_are_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN b && nvidia-smi -L | c; sudo /usr/bin/nvidia-persistenced
         ^^^^^^^^^^ {SAYS}
                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ likewise
RUN python3.11 -c "import torch; torch.cuda.is_available()"
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ {SAYS}
"#
            ),
        );
    }

    #[test]
    fn mentions_and_what_runs_later_are_silent() {
        for text in [
            "RUN command -v nvidia-smi",
            "RUN apt-get install -y nvidia-smi",
            "RUN echo 'torch.cuda.is_available()' > a.py",
            "RUN python -c 'import torch'",
            "RUN python a.py 'torch.cuda.is_available()'",
            "CMD nvidia-smi",
            "ENTRYPOINT [\"nvidia-smi\"]",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
