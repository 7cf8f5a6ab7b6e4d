//! Definition, references, highlights and rename of stages and build arguments.

use gen_lsp_types::{
    DefinitionParams, DocumentHighlight, DocumentHighlightParams, Location, PrepareRenameParams,
    PrepareRenamePlaceholder, ReferenceParams, RenameParams,
};
use probity_dockerfile::{Arguments, Dockerfile, Facts, Keyword, Target, VariableKind};
use probity_finding::{Edit, Span};
use serde_json::Value;

use super::{Answer, Refused, View, edits, places, typed};

/// Something that has a name and is used elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Symbol {
    Stage(usize),
    Variable(Variable),
}

/// A variable by its name and by the instruction that its value comes from first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    defined_by: usize,
    kind: VariableKind,
}

/// One appearance of a symbol.
struct Occurrence {
    span: Span,
    is_definition: bool,
    /// `--from=0` means a stage without its name.
    is_name: bool,
}

pub(super) fn definition(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: DefinitionParams| {
        let at = view.lines.offset(params.text_document_position_params.position);
        let (file, facts) = view.parsed();
        let places = symbol_at(&file, &facts, at).map(|symbol| places_of(&file, &facts, &symbol));
        let found = places.unwrap_or_default().into_iter().filter(|place| place.is_definition);
        Ok(found.map(|place| location(view, place.span)).collect::<Vec<_>>())
    })
}

pub(super) fn references(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: ReferenceParams| {
        let at = view.lines.offset(params.text_document_position_params.position);
        let (file, facts) = view.parsed();
        let places = symbol_at(&file, &facts, at).map(|symbol| places_of(&file, &facts, &symbol));
        let with_definitions = params.context.include_declaration;
        let found = places.unwrap_or_default().into_iter();
        let found = found.filter(|place| with_definitions || !place.is_definition);
        Ok(found.map(|place| location(view, place.span)).collect::<Vec<_>>())
    })
}

pub(super) fn highlight(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: DocumentHighlightParams| {
        let at = view.lines.offset(params.text_document_position_params.position);
        let (file, facts) = view.parsed();
        let places = symbol_at(&file, &facts, at).map(|symbol| places_of(&file, &facts, &symbol));
        let found = places.unwrap_or_default().into_iter();
        let highlight =
            |place: Occurrence| DocumentHighlight { range: view.range(place.span), kind: None };
        Ok(found.map(highlight).collect::<Vec<_>>())
    })
}

pub(super) fn prepare_rename(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: PrepareRenameParams| {
        let at = view.lines.offset(params.text_document_position_params.position);
        let (file, facts) = view.parsed();
        let symbol = renamed_at(&file, &facts, at)?;
        let places = places_of(&file, &facts, &symbol);
        let here = places.iter().find(|place| place.is_name && touches(place.span, at));
        Ok(here.map(|place| PrepareRenamePlaceholder {
            range: view.range(place.span),
            placeholder: place.span.slice(view.text()).unwrap_or_default().to_owned(),
        }))
    })
}

pub(super) fn rename(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: RenameParams| {
        let at = view.lines.offset(params.text_document_position_params.position);
        let (file, facts) = view.parsed();
        let symbol = renamed_at(&file, &facts, at)?;
        let new = params.new_name.as_str();
        refuse_name(&file, &facts, &symbol, new)?;
        let places = places_of(&file, &facts, &symbol);
        let changed = places.into_iter().filter(|place| place.is_name);
        let changes: Vec<Edit> = changed.map(|place| Edit::replace(place.span, new)).collect();
        Ok(edits::of_document(view.document, &view.lines, view.client, &changes))
    })
}

fn location(view: &View<'_>, span: Span) -> Location {
    Location { uri: view.document.uri.clone(), range: view.range(span) }
}

fn touches(span: Span, offset: usize) -> bool {
    span.start <= offset && offset <= span.end
}

fn symbol_at(file: &Dockerfile<'_>, facts: &Facts, offset: usize) -> Option<Symbol> {
    let named = |span: Option<Span>| span.is_some_and(|span| touches(span, offset));
    if let Some(stage) = facts.stages().iter().find(|stage| named(stage.name_span)) {
        return Some(Symbol::Stage(stage.index));
    }
    let mut references = facts.graph().references().iter();
    let reference = references.find(|reference| touches(reference.span, offset));
    if let Some(stage) = reference.and_then(|reference| reference.target.stage()) {
        return Some(Symbol::Stage(stage));
    }
    let here = definitions(file).into_iter().find(|(.., span)| touches(*span, offset));
    if let Some((instruction, name, _)) = here {
        return Some(Symbol::Variable(defined(file, facts, instruction, &name)));
    }
    let used = places::uses(file, facts).into_iter().find(|used| touches(used.span, offset))?;
    variable_of(file, facts, &used).map(Symbol::Variable)
}

/// Every name that ARG and ENV define, with its place.
fn definitions(file: &Dockerfile<'_>) -> Vec<(usize, String, Span)> {
    let mut found = Vec::new();
    for (index, instruction) in file.instructions.iter().enumerate() {
        if let (Keyword::Arg | Keyword::Env, Arguments::Pairs { pairs, .. }) =
            (instruction.keyword, &instruction.arguments)
        {
            let names = pairs.iter().map(|pair| (index, pair.key.text.to_string(), pair.key.span));
            found.extend(names);
        }
    }
    found
}

/// What a definition defines. An ARG without a value in a stage is the one before the first FROM, if
/// there is one.
fn defined(file: &Dockerfile<'_>, facts: &Facts, instruction: usize, name: &str) -> Variable {
    let is_arg = file
        .instructions
        .get(instruction)
        .is_some_and(|instruction| instruction.keyword == Keyword::Arg);
    let kind = if is_arg { VariableKind::Arg } else { VariableKind::Env };
    let has_value =
        file.instructions.get(instruction).is_some_and(|instruction| {
            match &instruction.arguments {
                Arguments::Pairs { pairs, .. } => {
                    pairs.iter().any(|pair| pair.key.text == name && pair.value.is_some())
                }
                _ => false,
            }
        });
    let is_outside = |index: usize| facts.stage_of(index).is_none();
    let mut all = definitions(file).into_iter();
    let global = all.find(|(index, other, _)| is_outside(*index) && other == name);
    let defined_by = match global {
        Some((index, ..)) if is_arg && (!has_value || is_outside(instruction)) => index,
        _ => instruction,
    };
    Variable { name: name.to_owned(), defined_by, kind }
}

fn variable_of(file: &Dockerfile<'_>, facts: &Facts, used: &places::Use) -> Option<Variable> {
    let seen = facts.scope(used.instruction).get(&used.name)?;
    Some(defined(file, facts, seen.instruction?, &used.name))
}

fn places_of(file: &Dockerfile<'_>, facts: &Facts, symbol: &Symbol) -> Vec<Occurrence> {
    let mut found: Vec<Occurrence> = match symbol {
        Symbol::Stage(stage) => stage_places(facts, *stage),
        Symbol::Variable(variable) => {
            let own = definitions(file).into_iter().filter(|(instruction, name, _)| {
                *name == variable.name && defined(file, facts, *instruction, name) == *variable
            });
            let own = own.map(|(.., span)| Occurrence { span, is_definition: true, is_name: true });
            let uses = places::uses(file, facts);
            let used = uses.into_iter().filter(|used| {
                used.name == variable.name
                    && variable_of(file, facts, used).as_ref() == Some(variable)
            });
            let used = used.map(|used| Occurrence {
                span: used.span,
                is_definition: false,
                is_name: true,
            });
            own.chain(used).collect()
        }
    };
    found.sort_by_key(|place| place.span);
    found
}

fn stage_places(facts: &Facts, stage: usize) -> Vec<Occurrence> {
    let Some(found) = facts.stages().get(stage) else { return Vec::new() };
    let named = Occurrence {
        span: found.name_span.or(found.image_span).unwrap_or(Span::at(0)),
        is_definition: true,
        is_name: found.name_span.is_some(),
    };
    let references = facts.graph().references().iter();
    let used = references.filter(|reference| reference.target.stage() == Some(stage));
    let used = used.map(|reference| Occurrence {
        span: reference.span,
        is_definition: false,
        is_name: matches!(reference.target, Target::Stage(_)),
    });
    std::iter::once(named).chain(used).collect()
}

/// The symbol at an offset, if it can have another name.
fn renamed_at(file: &Dockerfile<'_>, facts: &Facts, at: usize) -> Result<Symbol, Refused> {
    let refused = |what: &str| Err(Refused::Failed(what.to_owned()));
    match symbol_at(file, facts, at) {
        None => refused(
            "only stages and build arguments can be renamed; place the cursor on the name of one",
        ),
        Some(Symbol::Stage(stage))
            if facts.stages().get(stage).is_none_or(|stage| stage.name.is_none()) =>
        {
            refused("the stage has no name; add `AS name` to its FROM first")
        }
        Some(Symbol::Variable(variable)) if variable.kind == VariableKind::Env => refused(
            "ENV variables are part of the image, and the container reads them by this name",
        ),
        Some(Symbol::Variable(variable)) if is_predefined(&variable.name) => {
            refused("BuildKit sets this argument, and knows it by this name alone")
        }
        Some(symbol) => {
            if let Symbol::Variable(variable) = &symbol {
                refuse_bare_words(file, variable)?;
            }
            Ok(symbol)
        }
    }
}

/// Arguments that BuildKit sets if a stage declares them.
fn is_predefined(name: &str) -> bool {
    let is_platform = ["BUILD", "TARGET"].iter().any(|prefix| {
        name.strip_prefix(prefix).is_some_and(|rest| {
            ["PLATFORM", "OS", "OSVERSION", "ARCH", "VARIANT", "STAGE"].contains(&rest)
        })
    });
    let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
    is_platform || is_proxy || name.starts_with("BUILDKIT_") || name == "SOURCE_DATE_EPOCH"
}

/// A command that names the variable without `$` assigns it or passes its name on; a rename would
/// break it without a word.
fn refuse_bare_words(file: &Dockerfile<'_>, variable: &Variable) -> Result<(), Refused> {
    for instruction in
        file.instructions.iter().filter(|instruction| places::is_command(instruction))
    {
        if let Some(span) = places::bare_words(file.text, instruction.span, &variable.name).first()
        {
            let line = file.text[..span.start].matches('\n').count() + 1;
            return Err(Refused::Failed(format!(
                "line {line} uses the word `{}` without `$`; rename it there first",
                variable.name
            )));
        }
    }
    Ok(())
}

fn refuse_name(
    file: &Dockerfile<'_>,
    facts: &Facts,
    symbol: &Symbol,
    new: &str,
) -> Result<(), Refused> {
    let refused = |what: String| Err(Refused::Failed(what));
    match symbol {
        Symbol::Stage(stage) => {
            let is_char = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
            let begins_well = new.starts_with(|char: char| char.is_ascii_alphabetic());
            if !begins_well || !new.chars().all(is_char) {
                return refused(format!(
                    "`{new}` is not a valid stage name: use a letter, then letters, digits, `-`, \
                     `_` or `.`"
                ));
            }
            let mut others = facts.stages().iter().filter(|other| other.index != *stage);
            if others.any(|other| other.key() == Some(new.to_lowercase())) {
                return refused(format!("another stage is called `{new}`"));
            }
        }
        Symbol::Variable(_) => {
            let begins_well =
                new.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
            if !begins_well || !new.chars().all(places::is_name_char) {
                return refused(format!(
                    "`{new}` is not a valid variable name: use letters, digits and `_`"
                ));
            }
            let is_taken = definitions(file).iter().any(|(_, name, _)| name == new)
                || places::uses(file, facts).iter().any(|used| used.name == new)
                || is_predefined(new);
            if is_taken {
                return refused(format!("the name `{new}` is used already"));
            }
        }
    }
    Ok(())
}
