//! Executing a template: control structures, variables and pipelines.

use super::functions;
use super::print;
use super::tree::{Branch, Command, Function, List, Node, Operand, Pipeline, Trees};
use super::value::Value;
use super::{Fault, RenderError};

/// What one rendering may spend: a unit for each byte that is looked at or written, and
/// [`STEP`] for each step. The default message spends about 400 on an image.
const BUDGET: usize = 8 * 1024 * 1024;
/// What a step costs: a node, a command, a round of a loop.
const STEP: usize = 16;
/// How deep templates and control structures may nest while they run. Each level takes
/// stack; half a default thread's is enough for this many, even unoptimized.
const MAX_DEPTH: usize = 200;

/// Fills in `data`.
pub(super) fn render(trees: &Trees, data: &Value) -> Result<String, RenderError> {
    let mut run = Run {
        trees,
        out: String::new(),
        variables: vec![("$", data.clone())],
        budget: BUDGET,
        depth: 0,
        line: 1,
    };
    match run.list(&trees.main, data) {
        Ok(_) => Ok(run.out),
        Err(fault) => Err(fault.while_rendering(run.line)),
    }
}

/// Whether execution goes on behind a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

struct Run<'t> {
    trees: &'t Trees,
    out: String,
    variables: Vec<(&'t str, Value)>,
    budget: usize,
    depth: usize,
    /// The line of the pipeline that ran last, for messages.
    line: usize,
}

impl<'t> Run<'t> {
    fn spend(&mut self, units: usize) -> Result<(), Fault> {
        match self.budget.checked_sub(units) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(Fault::too_much()),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Fault> {
        self.spend(text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    fn list(&mut self, list: &'t List, dot: &Value) -> Result<Flow, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::new("exceeded maximum template depth"));
        }
        self.depth += 1;
        let mut flow = Flow::Next;
        for node in list {
            flow = self.node(node, dot)?;
            if flow != Flow::Next {
                break;
            }
        }
        self.depth -= 1;
        Ok(flow)
    }

    fn node(&mut self, node: &'t Node, dot: &Value) -> Result<Flow, Fault> {
        self.spend(STEP)?;
        match node {
            Node::Text(text) => self.write(text)?,
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    self.spend(value.weight())?;
                    let shown = print::shown(&value);
                    self.write(&shown)?;
                }
            }
            Node::If(branch) => return self.in_scope(|run| run.condition(branch, dot, false)),
            Node::With(branch) => return self.in_scope(|run| run.condition(branch, dot, true)),
            Node::Range(branch) => return self.in_scope(|run| run.range(branch, dot)),
            Node::Template { line, name, argument } => {
                self.line = *line;
                self.template(name, argument.as_ref(), dot)?;
            }
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    /// Drops the variables that `body` declares.
    fn in_scope(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<Flow, Fault>,
    ) -> Result<Flow, Fault> {
        let outer = self.variables.len();
        let flow = body(self)?;
        self.variables.truncate(outer);
        Ok(flow)
    }

    fn condition(&mut self, branch: &'t Branch, dot: &Value, is_with: bool) -> Result<Flow, Fault> {
        let value = self.pipeline(&branch.pipeline, dot)?;
        match (value.is_true(), is_with) {
            (true, true) => self.list(&branch.body, &value),
            (true, false) => self.list(&branch.body, dot),
            (false, _) => self.list(&branch.otherwise, dot),
        }
    }

    fn range(&mut self, branch: &'t Branch, dot: &Value) -> Result<Flow, Fault> {
        let value = self.pipeline(&branch.pipeline, dot)?;
        let declared = branch.pipeline.variables.len();
        let mut elements: Box<dyn Iterator<Item = (Value, Value)>> = match &value {
            Value::Missing => Box::new(std::iter::empty()),
            Value::List(items) => {
                let indexes = (0..).map(Value::Integer);
                Box::new(indexes.zip(items.iter().cloned()))
            }
            Value::Map(entries) => {
                Box::new(entries.iter().map(|(key, value)| (Value::text(key), Value::text(value))))
            }
            Value::Integer(_) | Value::Byte(_) if declared > 1 => {
                return Err(Fault::new(format!(
                    "can't use {} to iterate over more than one variable",
                    print::shown(&value)
                )));
            }
            Value::Integer(end) => Box::new((0..*end).map(|n| (Value::Missing, Value::Integer(n)))),
            Value::Byte(end) => Box::new((0..*end).map(|n| (Value::Missing, Value::Byte(n)))),
            other => {
                return Err(Fault::new(format!(
                    "range can't iterate over a {}",
                    other.type_name()
                )));
            }
        };
        let Some(first) = elements.next() else {
            // A `break` here ends this range, not the one around it, as in Go.
            let flow = self.list(&branch.otherwise, dot)?;
            return Ok(if flow == Flow::Break { Flow::Next } else { flow });
        };
        for (index, element) in std::iter::once(first).chain(elements) {
            self.spend(STEP)?;
            let inner = self.variables.len();
            self.take_element(&branch.pipeline, index, &element)?;
            let flow = self.list(&branch.body, &element)?;
            self.variables.truncate(inner);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(Flow::Next)
    }

    /// Gives the variables of a range their values for one round. With one variable it is
    /// the element, with two the index comes first.
    fn take_element(
        &mut self,
        pipeline: &'t Pipeline,
        index: Value,
        element: &Value,
    ) -> Result<(), Fault> {
        let values = match pipeline.variables.len() {
            0 => return Ok(()),
            1 => vec![element.clone()],
            _ => vec![index, element.clone()],
        };
        if pipeline.assigns {
            for (name, value) in pipeline.variables.iter().zip(values) {
                self.assign(name, value)?;
            }
        } else {
            // The pipeline declared them right before.
            let declared = self.variables.len() - values.len();
            for (variable, value) in self.variables[declared..].iter_mut().zip(values) {
                variable.1 = value;
            }
        }
        Ok(())
    }

    fn template(
        &mut self,
        name: &str,
        argument: Option<&'t Pipeline>,
        dot: &Value,
    ) -> Result<(), Fault> {
        let Some(body) = self.trees.defined.get(name) else {
            return Err(Fault::new(format!("template {name:?} not defined")));
        };
        let dot = match argument {
            Some(pipeline) => self.pipeline(pipeline, dot)?,
            None => Value::Missing,
        };
        let outer = std::mem::replace(&mut self.variables, vec![("$", dot.clone())]);
        self.list(body, &dot)?;
        self.variables = outer;
        Ok(())
    }

    fn assign(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        match self.variables.iter_mut().rev().find(|(known, _)| *known == name) {
            Some(variable) => {
                variable.1 = value;
                Ok(())
            }
            None => Err(Fault::new(format!("undefined variable: {name}"))),
        }
    }

    fn pipeline(&mut self, pipeline: &'t Pipeline, dot: &Value) -> Result<Value, Fault> {
        self.line = pipeline.line;
        let mut value = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, dot, value)?);
        }
        let value = value.unwrap_or(Value::Missing);
        for name in &pipeline.variables {
            if pipeline.assigns {
                self.assign(name, value.clone())?;
            } else {
                self.variables.push((name, value.clone()));
            }
        }
        Ok(value)
    }

    /// Runs one command; `piped` is what the one before it came to.
    fn command(
        &mut self,
        command: &'t Command,
        dot: &Value,
        piped: Option<Value>,
    ) -> Result<Value, Fault> {
        self.spend(STEP)?;
        if let Operand::Function(function) = command.head {
            return self.call(function, &command.arguments, dot, piped);
        }
        let is_given = !command.arguments.is_empty() || piped.is_some();
        match &command.head {
            Operand::Nil => Err(Fault::new("nil is not a command")),
            Operand::Fields(fields) if is_given => no_function(dot.clone(), fields),
            Operand::Chain(inner, fields) if is_given => {
                no_function(self.operand(inner, dot)?, fields)
            }
            Operand::Variable(name, fields) if is_given && !fields.is_empty() => {
                no_function(self.variable(name)?, fields)
            }
            _ if is_given => Err(Fault::new("can't give argument to non-function")),
            head => self.operand(head, dot),
        }
    }

    fn operand(&mut self, operand: &'t Operand, dot: &Value) -> Result<Value, Fault> {
        match operand {
            Operand::Dot => Ok(dot.clone()),
            Operand::Nil => Ok(Value::Missing),
            Operand::Bool(value) => Ok(Value::Bool(*value)),
            Operand::Integer(value) => Ok(Value::Integer(*value)),
            Operand::Float(value) => Ok(Value::Float(*value)),
            Operand::Text(text) => {
                self.spend(text.len())?;
                Ok(Value::text(text))
            }
            Operand::Function(function) => self.call(*function, &[], dot, None),
            Operand::Fields(fields) => fields_of(dot.clone(), fields),
            Operand::Variable(name, fields) => fields_of(self.variable(name)?, fields),
            Operand::Parenthesized(pipeline) => self.pipeline(pipeline, dot),
            Operand::Chain(inner, fields) => fields_of(self.operand(inner, dot)?, fields),
        }
    }

    fn variable(&self, name: &str) -> Result<Value, Fault> {
        let found = self.variables.iter().rev().find(|(known, _)| *known == name);
        match found {
            Some((_, value)) => Ok(value.clone()),
            None => Err(Fault::new(format!("undefined variable: {name}"))),
        }
    }

    fn call(
        &mut self,
        function: Function,
        arguments: &'t [Operand],
        dot: &Value,
        piped: Option<Value>,
    ) -> Result<Value, Fault> {
        functions::check_count(function, arguments.len() + usize::from(piped.is_some()))?;
        let mut values = Vec::with_capacity(arguments.len() + 1);
        for argument in arguments {
            let value = self.operand(argument, dot)?;
            // `and` and `or` look no further than they must.
            if functions::is_decided_by(function, &value) {
                return Ok(value);
            }
            values.push(value);
        }
        values.extend(piped);
        if functions::looks_at_all(function) {
            self.spend(values.iter().map(Value::weight).sum())?;
        }
        let result = functions::call(function, &values)
            .map_err(|fault| fault.within(&format!("error calling {}", function.name())))?;
        self.spend(result.weight())?;
        Ok(result)
    }
}

/// `.A.B` with arguments: no field is a function. Of what is missing Go does not even ask that.
fn no_function(value: Value, fields: &[String]) -> Result<Value, Fault> {
    let (last, before) = fields.split_last().map_or(("", fields), |(last, rest)| (&**last, rest));
    match fields_of(value, before)? {
        Value::Missing => Ok(Value::Missing),
        _ => Err(Fault::new(format!("{last} has arguments but cannot be invoked as function"))),
    }
}

/// Follows `.A.B`. What is missing has every field, and each is missing.
fn fields_of(mut value: Value, fields: &[String]) -> Result<Value, Fault> {
    for field in fields {
        let found = match &value {
            Value::Missing => Some(Value::Missing),
            Value::Record(record) => {
                record.fields.iter().find(|(name, _)| name == field).map(|(_, value)| value.clone())
            }
            Value::Map(entries) => {
                Some(entries.get(field).map_or(Value::Missing, |text| Value::text(text)))
            }
            _ => None,
        };
        value = found.ok_or_else(|| {
            Fault::new(format!("can't evaluate field {field} in type {}", value.type_name()))
        })?;
    }
    Ok(value)
}
