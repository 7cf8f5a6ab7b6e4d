//! Items of a module: imports, types, constants, functions and validators.

use super::Parser;
use crate::heuristic::tree::{
    Constructor, Function, Handler, Import, Module, Parameter, TypeDefinition, TypeName, Validator,
};

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Module {
        let mut module = Module::default();
        while !self.is_end() {
            self.item(&mut module);
        }
        module
    }

    fn item(&mut self, module: &mut Module) {
        let word = self.peek_word();
        self.advance();
        match word {
            "use" => {
                let import = self.import();
                module.imports.push(import);
            }
            "type" => {
                let definition = self.type_definition();
                module.types.extend(definition);
            }
            "const" => {
                let name = self.lower();
                if self.eat(":") {
                    self.type_name();
                }
                if self.eat("=") {
                    let value = self.expression();
                    module.constants.extend(name.map(|name| (name, value)));
                }
            }
            "fn" => {
                let function = self.function();
                module.functions.extend(function);
            }
            "test" | "bench" => {
                self.function();
            }
            "validator" => {
                let validator = self.validator();
                module.validators.push(validator);
            }
            _ => {}
        }
    }

    fn import(&mut self) -> Import {
        let mut path = String::new();
        while let Some(part) = self.lower() {
            path.push_str(&part);
            if !self.eat("/") {
                break;
            }
            path.push('/');
        }
        let mut names = Vec::new();
        if self.eat(".") && self.eat("{") {
            self.until("}", |parser| {
                let token = parser.advance();
                let name = parser.word(token).to_owned();
                let alias = parser.alias().unwrap_or_else(|| name.clone());
                names.push((name, alias));
            });
        }
        let alias = self.alias();
        let last = path.rsplit('/').next().unwrap_or_default().to_owned();
        Import { path, alias: alias.unwrap_or(last), names }
    }

    fn alias(&mut self) -> Option<String> {
        if !self.eat("as") {
            return None;
        }
        let token = self.advance();
        Some(self.word(token).to_owned())
    }

    fn type_definition(&mut self) -> Option<TypeDefinition> {
        let name = self.upper()?;
        if self.is("<") {
            self.type_arguments();
        }
        let mut constructors = Vec::new();
        if self.eat("{") {
            let mut fields = Vec::new();
            self.until("}", |parser| match parser.upper() {
                Some(name) => {
                    let fields = parser.constructor_fields();
                    constructors.push(Constructor { name, fields });
                }
                None => fields.extend(parser.labelled_field()),
            });
            if !fields.is_empty() {
                constructors.push(Constructor { name: name.clone(), fields });
            }
        } else if self.eat("=") {
            self.type_name();
        }
        Some(TypeDefinition { name, constructors })
    }

    fn constructor_fields(&mut self) -> Vec<(Option<String>, TypeName)> {
        let mut fields = Vec::new();
        if self.eat("{") {
            self.until("}", |parser| fields.extend(parser.labelled_field()));
        } else if self.eat("(") {
            self.until(")", |parser| {
                let labelled = parser.ahead(1);
                if parser.word(labelled) == ":" {
                    fields.extend(parser.labelled_field());
                } else {
                    let field = parser.type_name();
                    fields.push((None, field));
                }
            });
        }
        fields
    }

    fn labelled_field(&mut self) -> Option<(Option<String>, TypeName)> {
        let label = self.lower()?;
        self.eat(":");
        Some((Some(label), self.type_name()))
    }

    /// `module.Name<Argument, …>`, `fn(A) -> B`, `(A, B)`.
    pub(super) fn type_name(&mut self) -> TypeName {
        let mut found = TypeName::default();
        if self.depth >= super::MAX_DEPTH {
            return found;
        }
        self.depth += 1;
        if self.eat("(") {
            self.until(")", |parser| found.arguments.push(parser.type_name()));
        } else if self.eat("fn") {
            if self.eat("(") {
                self.until(")", |parser| found.arguments.push(parser.type_name()));
            }
            if self.eat("->") {
                self.type_name();
            }
        } else {
            let lower = self.lower();
            if lower.is_none() || self.eat(".") {
                found.name = self.upper().unwrap_or_default();
            }
            if self.is("<") {
                found.arguments = self.type_arguments();
            }
        }
        self.depth -= 1;
        found
    }

    fn type_arguments(&mut self) -> Vec<TypeName> {
        let mut arguments = Vec::new();
        self.advance();
        self.until(">", |parser| arguments.push(parser.type_name()));
        arguments
    }

    fn function(&mut self) -> Option<Function> {
        let name = self.lower()?;
        let parameters = self.parameters();
        if self.eat("->") {
            self.type_name();
        }
        self.eat("fail");
        let body = self.block();
        Some(Function { name, parameters, body })
    }

    /// `(pattern: Type, …)`, with a label before the pattern or a generator behind `via`.
    pub(super) fn parameters(&mut self) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        if self.eat("(") {
            self.until(")", |parser| {
                let pattern = parser.pattern();
                let annotation = parser.eat(":").then(|| parser.type_name());
                if parser.eat("via") {
                    parser.expression();
                }
                parameters.push(Parameter { pattern, annotation });
            });
        }
        parameters
    }

    fn validator(&mut self) -> Validator {
        self.lower();
        let parameters = self.parameters();
        let mut handlers = Vec::new();
        if self.eat("{") {
            self.until("}", |parser| {
                let start = parser.start();
                let old_syntax = parser.eat("fn");
                let name = parser.lower().unwrap_or_default();
                if !parser.is("(") {
                    return;
                }
                let parameters = parser.parameters();
                if parser.eat("->") {
                    parser.type_name();
                }
                let body = parser.block();
                let span = parser.span(start);
                handlers.push(Handler { name, old_syntax, parameters, body, span });
            });
        }
        Validator { parameters, handlers }
    }
}
