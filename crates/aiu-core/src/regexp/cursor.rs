/// Where reading stands in the text of an expression.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// All that has not been read.
    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    pub(super) fn next_if(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let found = self.peek().filter(|&c| wanted(c))?;
        self.next();
        Some(found)
    }

    /// Reads `token` if it comes next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads up to `end` and past it; gives what stands before it.
    pub(super) fn until(&mut self, end: &str) -> Option<&'t str> {
        let (before, after) = self.rest.split_once(end)?;
        self.rest = after;
        Some(before)
    }

    /// What has been read since `earlier`.
    pub(super) fn since(&self, earlier: Self) -> &'t str {
        &earlier.rest[..earlier.rest.len() - self.rest.len()]
    }
}
