//! The form that an answer must have, with an example of it.

use crate::Expect;

/// What the agent may answer, and nothing else.
pub(super) fn output_contract(expect: Expect, name: &str) -> String {
    let form = match expect {
        Expect::Patch => patch(name),
        Expect::Dockerfile => whole_file(),
    };
    format!(
        "Output: answer with exactly one of these two and no other text.\n\
         1. The word NO_CHANGE, if no change is safe.\n\
         {form}"
    )
}

fn patch(name: &str) -> String {
    format!(
        "2. One fenced block labelled diff that holds a unified diff of `{name}`: this one file, \
         neither created nor deleted nor renamed, with context lines copied from the text above \
         character by character and with correct line numbers. Change as few lines as possible.\n\
         The form of such an answer, on another file:\n\
         ```diff\n\
         --- a/{name}\n\
         +++ b/{name}\n\
         @@ -2,3 +2,3 @@\n \
         WORKDIR /srv\n\
         -COPY . .\n\
         +COPY src/ ./src/\n \
         USER app\n\
         ```\n"
    )
}

fn whole_file() -> String {
    "2. One fenced block labelled Dockerfile that holds the whole new file:\n\
     ```Dockerfile\n\
     FROM …\n\
     ```\n"
        .to_owned()
}
