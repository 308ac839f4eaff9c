//! Numbers that look random and come again with their seed, and what texts are made of by them.

/// `SplitMix64`: small, fast, and good enough to pick from tables.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, but not including, `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    /// Yes, in so many cases of a hundred.
    pub(super) fn percent(&mut self, yes: usize) -> bool {
        self.below(100) < yes
    }

    /// One of the items; the list is not empty.
    pub(super) fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    /// Like [`Self::pick`], for words.
    pub(super) fn word<'t>(&mut self, words: &[&'t str]) -> &'t str {
        words[self.below(words.len())]
    }

    /// One of the usual words, and now and then one of the odd ones.
    pub(super) fn mostly<'t>(&mut self, usual: &[&'t str], odd: &[&'t str]) -> &'t str {
        let odd_one = self.percent(3);
        self.word(if odd_one { odd } else { usual })
    }

    /// Mostly what was made, but now and then something known, and one or the other with errors.
    pub(super) fn vary(&mut self, made: String, known: &[String], pieces: &[&str]) -> String {
        match self.below(20) {
            0 | 1 => self.pick(known).clone(),
            2 | 3 => {
                let known = self.pick(known);
                self.garble(known, pieces)
            }
            4 | 5 => self.garble(&made, pieces),
            _ => made,
        }
    }

    /// Up to three small errors: a piece put in, a character left out, doubled, or moved.
    pub(super) fn garble(&mut self, text: &str, pieces: &[&str]) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(3) {
            let at = self.below(chars.len() + 1);
            match self.below(5) {
                0 | 1 => drop(chars.splice(at..at, self.word(pieces).chars())),
                2 if at < chars.len() => drop(chars.remove(at)),
                3 if at < chars.len() => chars.insert(at, chars[at]),
                _ if at + 1 < chars.len() => chars.swap(at, at + 1),
                _ => {}
            }
        }
        chars.into_iter().collect()
    }
}
