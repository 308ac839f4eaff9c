//! `printf`: reading the format (Go's `fmt`, "Printing").

use super::value::Value;
use super::verb::{self, Style};

/// Widths and precisions above this are not taken for numbers.
const MAX_NUMBER: usize = 1_000_000;

/// No result is longer, in bytes; what a template may spend would not pay for it. One value
/// alone can be padded to more, for a moment.
pub(super) const MAX_OUTPUT: usize = 8 * 1024 * 1024;

/// Fills the verbs of `format`. A verb that does not fit its argument, or has none, says so
/// in the result; `None` means that the result would be too long.
pub(super) fn formatted(format: &str, arguments: &[Value]) -> Option<String> {
    let mut reader = Reader {
        rest: format,
        arguments,
        next: 0,
        reordered: false,
        index_is_good: true,
        out: String::new(),
    };
    while let Some((text, rest)) = reader.rest.split_once('%') {
        reader.out.push_str(text);
        reader.rest = rest;
        reader.directive();
        if reader.out.len() > MAX_OUTPUT {
            return None;
        }
    }
    reader.out.push_str(reader.rest);
    reader.report_extra();
    Some(reader.out)
}

struct Reader<'f> {
    rest: &'f str,
    arguments: &'f [Value],
    /// The argument that comes next.
    next: usize,
    /// Whether some directive chose its argument by number.
    reordered: bool,
    /// Whether the number that this directive gives is one of an argument.
    index_is_good: bool,
    out: String,
}

impl Reader<'_> {
    /// What stands behind a `%`.
    fn directive(&mut self) {
        self.index_is_good = true;
        let mut style = self.flags();
        let mut indexed = self.index();
        if self.eat('*') {
            self.width_from_argument(&mut style);
            indexed = false;
        } else {
            style.width = self.number();
            if indexed && style.width.is_some() {
                self.index_is_good = false;
            }
        }
        // At the very end it is the verb.
        if self.rest != "." && self.eat('.') {
            if indexed {
                self.index_is_good = false;
            }
            indexed = self.index();
            if self.eat('*') {
                self.precision_from_argument(&mut style);
                indexed = false;
            } else {
                style.precision = Some(self.number().unwrap_or(0));
            }
        }
        if !indexed {
            self.index();
        }
        self.verb(style);
    }

    fn verb(&mut self, mut style: Style) {
        let mut characters = self.rest.chars();
        let Some(verb) = characters.next() else { return self.out.push_str("%!(NOVERB)") };
        self.rest = characters.as_str();
        if verb == '%' {
            self.out.push('%');
        } else if !self.index_is_good {
            self.out.extend(["%!", verb.encode_utf8(&mut [0; 4]), "(BADINDEX)"]);
        } else if let Some(argument) = self.arguments.get(self.next) {
            self.next += 1;
            if verb == 'v' {
                style = style.for_v();
            }
            verb::push_value(&mut self.out, argument, verb, &style);
        } else {
            self.out.extend(["%!", verb.encode_utf8(&mut [0; 4]), "(MISSING)"]);
        }
    }

    fn flags(&mut self) -> Style {
        let mut style = Style::default();
        loop {
            let flag = match self.rest.as_bytes().first() {
                Some(b'#') => &mut style.sharp,
                Some(b'0') => &mut style.zero,
                Some(b'+') => &mut style.plus,
                Some(b'-') => &mut style.minus,
                Some(b' ') => &mut style.space,
                _ => return style,
            };
            *flag = true;
            self.rest = &self.rest[1..];
        }
    }

    fn eat(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Decimal digits, if there are any. A number that is too large swallows the format.
    fn number(&mut self) -> Option<usize> {
        let end = self.rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        if digits.is_empty() {
            return None;
        }
        // Go looks at the number before it takes another digit.
        let before_last = digits[..digits.len() - 1].parse().unwrap_or(0);
        let number = if before_last <= MAX_NUMBER { digits.parse().ok() } else { None };
        self.rest = if number.is_some() { rest } else { "" };
        number
    }

    /// `[n]`: the next argument is the n-th.
    fn index(&mut self) -> bool {
        if !self.rest.starts_with('[') {
            return false;
        }
        self.reordered = true;
        // `[]` at the very end is not even looked into.
        let closed = self.rest[1..].split_once(']').filter(|_| self.rest.len() > "[]".len());
        let Some((inside, after)) = closed else {
            self.rest = &self.rest[1..];
            self.index_is_good = false;
            return false;
        };
        self.rest = after;
        let number = inside.parse::<usize>().ok().filter(|_| !inside.starts_with('+'));
        match number.and_then(|number| number.checked_sub(1)) {
            Some(index) if index < self.arguments.len() => {
                self.next = index;
                true
            }
            _ => {
                self.index_is_good = false;
                number.is_some()
            }
        }
    }

    fn integer_argument(&mut self) -> Option<i64> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        let limit = i64::try_from(MAX_NUMBER).unwrap_or(i64::MAX);
        argument.as_integer().filter(|number| (-limit..=limit).contains(number))
    }

    fn width_from_argument(&mut self, style: &mut Style) {
        match self.integer_argument() {
            Some(width) => {
                if width < 0 {
                    style.minus = true;
                    style.zero = false;
                }
                style.width = usize::try_from(width.unsigned_abs()).ok();
            }
            None => self.out.push_str("%!(BADWIDTH)"),
        }
    }

    fn precision_from_argument(&mut self, style: &mut Style) {
        let precision = self.integer_argument().and_then(|number| usize::try_from(number).ok());
        style.precision = precision;
        if precision.is_none() {
            self.out.push_str("%!(BADPREC)");
        }
    }

    /// Arguments that no verb asked for.
    fn report_extra(&mut self) {
        let extra = self.arguments.get(self.next..).unwrap_or_default();
        if self.reordered || extra.is_empty() {
            return;
        }
        self.out.push_str("%!(EXTRA ");
        for (at, argument) in extra.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            if let Value::Missing = argument {
                self.out.push_str("<nil>");
            } else {
                self.out.push_str(&argument.type_name());
                self.out.push('=');
                verb::push_value(&mut self.out, argument, 'v', &Style::default());
            }
        }
        self.out.push(')');
    }
}
