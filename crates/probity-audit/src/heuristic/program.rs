//! All modules of a project, and the meaning of names in them.

use std::collections::HashMap;

use super::{
    parser::parse,
    tree::{Constructor, Expr, Function, Module},
};

pub(super) struct Program<'a> {
    pub(super) files: Vec<File<'a>>,
}

pub(super) struct File<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) module: Module,
    functions: HashMap<String, usize>,
}

/// The meaning of a name that is not bound locally.
pub(super) enum Meaning<'p> {
    Function(usize, &'p Function),
    Constant(usize, &'p Expr),
    /// Of the standard library, as `module.function`.
    Library(String),
    /// Of a module that is not among the sources.
    Foreign,
}

impl<'a> Program<'a> {
    pub(super) fn new(sources: &'a [(String, String)]) -> Self {
        let files = sources.iter().map(|(path, text)| {
            let module = parse(text);
            let names = module.functions.iter().enumerate();
            let functions = names.map(|(at, function)| (function.name.clone(), at)).collect();
            File { path, text, module, functions }
        });
        Self { files: files.collect() }
    }

    /// A name without a module before it.
    pub(super) fn name(&self, file: usize, name: &str) -> Meaning<'_> {
        if let Some(found) = self.own(file, name) {
            return found;
        }
        for import in self.imports(file) {
            if let Some((original, _)) = import.names.iter().find(|(_, alias)| alias == name) {
                return self.imported(&import.path, original);
            }
        }
        Meaning::Foreign
    }

    /// `module.name`, if the module is imported.
    pub(super) fn qualified(&self, file: usize, module: &str, name: &str) -> Option<Meaning<'_>> {
        let import = self.imports(file).find(|import| import.alias == module)?;
        Some(self.imported(&import.path, name))
    }

    /// The constructor with this name, and the name of its type. Its own module comes first.
    pub(super) fn constructor(&self, file: usize, name: &str) -> Option<(&str, &Constructor)> {
        let own = self.files.get(file).into_iter();
        own.chain(&self.files).flat_map(|file| &file.module.types).find_map(|definition| {
            let found = definition.constructors.iter().find(|found| found.name == name)?;
            Some((definition.name.as_str(), found))
        })
    }

    /// The fields of a type with a single constructor.
    pub(super) fn record(&self, type_name: &str) -> Option<&Constructor> {
        let mut types = self.files.iter().flat_map(|file| &file.module.types);
        let found = types.find(|definition| definition.name == type_name)?;
        match found.constructors.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The name of the type of a labeled field, if all constructors that have it agree.
    pub(super) fn field_type(&self, type_name: &str, label: &str) -> Option<&str> {
        let mut types = self.files.iter().flat_map(|file| &file.module.types);
        let found = types.find(|definition| definition.name == type_name)?;
        let fields = found.constructors.iter().flat_map(|constructor| {
            let named = constructor.fields.iter().enumerate();
            named.map(|(position, (field, kind))| {
                let key = format!("{}.{position}", constructor.name);
                (field.clone().unwrap_or(key), kind.name.as_str())
            })
        });
        let mut kinds = fields.filter(|(field, _)| field == label).map(|(_, kind)| kind);
        let first = kinds.next()?;
        if kinds.all(|kind| kind == first) { Some(first) } else { None }
    }

    fn imports(&self, file: usize) -> impl Iterator<Item = &super::tree::Import> {
        self.files.get(file).into_iter().flat_map(|file| &file.module.imports)
    }

    fn own(&self, file: usize, name: &str) -> Option<Meaning<'_>> {
        let found = self.files.get(file)?;
        if let Some(at) = found.functions.get(name) {
            return found.module.functions.get(*at).map(|body| Meaning::Function(file, body));
        }
        let (_, value) = found.module.constants.iter().find(|(constant, _)| constant == name)?;
        Some(Meaning::Constant(file, value))
    }

    fn imported(&self, path: &str, name: &str) -> Meaning<'_> {
        let found = self.files.iter().position(|file| is_module(file.path, path));
        if let Some(meaning) = found.and_then(|file| self.own(file, name)) {
            return meaning;
        }
        let root = path.split('/').next().unwrap_or_default();
        if !matches!(root, "aiken" | "cardano") {
            return Meaning::Foreign;
        }
        // The standard library moved `value` to `assets` in its second version.
        let module = match path.rsplit('/').next().unwrap_or_default() {
            "value" => "assets",
            module => module,
        };
        Meaning::Library(format!("{module}.{name}"))
    }
}

/// Whether `lib/a/b.ak` is the module `a/b`.
fn is_module(path: &str, module: &str) -> bool {
    let stem = path.strip_suffix(".ak").unwrap_or(path);
    let before = stem.strip_suffix(module);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
