//! Sites whose rules are known: pages under several URLs, which a crawler fetched, with a digest of what it got.
//!
//! A site has some of the [`EDITS`] as its rules: URLs that differ in these only are one page. All other edits lead to another
//! page, or to an error page. Everything follows from the seed and the numbers of site and page.

#[path = "../gen-corpus/generator/draw.rs"]
#[allow(
    dead_code,
    clippy::duplicate_mod,
    reason = "the other generator, which tests include too, uses more of it"
)]
mod draw;

use draw::{Draw, derive};

/// A change of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// A parameter with one of many values.
    Param(&'static str),
    /// Two parameters that never come alone.
    Both(&'static str, &'static str),
    Reversed,
    Slash,
    Http,
    Www,
    Mobile,
    UpperCase,
    Index,
    Prefix,
    Slashes,
    Session,
}

/// What may be a rule of a site, and what never is.
pub(crate) const EDITS: [Edit; 17] = [
    Edit::Param("ref"),
    Edit::Param("sid"),
    Edit::Param("utm*"),
    Edit::Both("t", "k"),
    Edit::Reversed,
    Edit::Slash,
    Edit::Http,
    Edit::Www,
    Edit::Mobile,
    Edit::UpperCase,
    Edit::Index,
    Edit::Prefix,
    Edit::Slashes,
    Edit::Session,
    Edit::Param("lang"),
    Edit::Param("page"),
    Edit::Param("v"),
];

/// Those of [`EDITS`] that may be a rule are the first ones.
const MOST_RULES: usize = 14;

/// How a site answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As its rules say.
    Honest,
    /// With one page for everything.
    Uniform,
    /// With a page of its own for each request.
    Restless,
    /// With one of a few pages, whatever is asked for.
    Random,
}

/// A site.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    seed: u64,
    pub(crate) host: String,
    pub(crate) kind: Kind,
    /// For each of [`EDITS`], whether it is a rule.
    pub(crate) rules: [bool; EDITS.len()],
    /// Pages of a thousand that are different each time, without being fetched twice.
    noise: u32,
}

/// A row: a URL and the digest of what was fetched.
pub(crate) type Row = (String, String);

impl Site {
    /// The site with this number: one of a hundred is not honest if `has_hostile`.
    pub(crate) fn new(seed: u64, number: u64, has_hostile: bool, noise: u32) -> Site {
        let seed = derive(seed, number);
        let mut draw = Draw::new(seed);
        let kind = match draw.below(if has_hostile { 10 } else { 1 }) {
            7 => Kind::Uniform,
            8 => Kind::Restless,
            9 => Kind::Random,
            _ => Kind::Honest,
        };
        let mut rules = [false; EDITS.len()];
        rules[..MOST_RULES].iter_mut().for_each(|rule| *rule = draw.per_mille(350));
        // What is left without an index page ends with a slash.
        let place = |edit: Edit| EDITS.iter().position(|&it| it == edit).unwrap_or(0);
        rules[place(Edit::Index)] &= rules[place(Edit::Slash)];
        Site { seed, host: format!("s{number}.example"), kind, rules, noise }
    }

    /// The rows of so many pages.
    pub(crate) fn rows(&self, pages: u32, mut each: impl FnMut(Row)) {
        (0..pages).for_each(|page| self.page(page, &mut each));
    }

    fn page(&self, number: u32, each: &mut impl FnMut(Row)) {
        let mut draw = Draw::new(derive(self.seed, u64::from(number)));
        // What changes each time is seen to do so.
        let is_volatile = draw.per_mille(10);
        let is_noisy = draw.per_mille(self.noise);
        let mut fetch = |edits: &[usize], draw: &mut Draw| {
            let url = self.url(number, edits, draw);
            for _ in 0..1 + u32::from(is_volatile || draw.per_mille(50)) {
                let digest = match self.kind {
                    Kind::Uniform => "one page".to_owned(),
                    Kind::Random => format!("page {}", draw.below(40)),
                    Kind::Restless => format!("{:x}", draw.bits()),
                    Kind::Honest if is_volatile || is_noisy => format!("{:x}", draw.bits()),
                    Kind::Honest => self.digest(number, edits, &url),
                };
                each((url.clone(), digest));
            }
        };
        fetch(&[], &mut draw);
        for edit in 0..EDITS.len() {
            if draw.per_mille(if self.rules[edit] { 750 } else { 400 }) {
                fetch(&[edit], &mut draw);
            }
        }
        for _ in 0..2 {
            let two =
                [draw.below(EDITS.len() as u32) as usize, draw.below(EDITS.len() as u32) as usize];
            if two[0] != two[1] {
                fetch(&two, &mut draw);
            }
        }
    }

    /// The digest of a page under `edits`: that of the page if all of them are rules, and else of another page, or of an error.
    fn digest(&self, number: u32, edits: &[usize], url: &str) -> String {
        let meant = order(edits).into_iter().filter(|&edit| !self.rules[edit]);
        let mut text = format!("{} {number}", self.host);
        for edit in meant {
            match EDITS[edit] {
                // A server that does not know such paths.
                Edit::Slashes | Edit::Index | Edit::Session => return "404".to_owned(),
                Edit::Param(name) => text.push_str(&format!(" {}", param(url, name))),
                Edit::Both(one, other) => {
                    text.push_str(&format!(" {} {}", param(url, one), param(url, other)));
                }
                edit => text.push_str(&format!(" {edit:?}")),
            }
        }
        text
    }

    /// The URL of a page under `edits`.
    fn url(&self, number: u32, edits: &[usize], draw: &mut Draw) -> String {
        let mut parts = Parts::new(&self.host, &format!("/shop{}/item-{number}", number % 7));
        parts.query.push(format!("id={number}"));
        parts.query.push("tab=a".to_owned());
        for edit in order(edits) {
            parts.change(EDITS[edit], draw);
        }
        parts.text()
    }

    /// Two URLs that are the same by this rule alone, of a page that no row has.
    pub(crate) fn probe(&self, edit: usize) -> (String, String) {
        let page = || {
            let mut parts = Parts::new(&self.host, "/probe/some-page");
            parts.query.extend(["id=1".to_owned(), "tab=b".to_owned()]);
            parts
        };
        let mut changed = page();
        changed.change(EDITS[edit], &mut Draw::new(1));
        (page().text(), changed.text())
    }
}

/// The parameter called `name` in `url`.
fn param<'u>(url: &'u str, name: &str) -> &'u str {
    let is_it = |param: &&str| param.split('=').next() == Some(name);
    url.split(['?', '&']).find(is_it).unwrap_or_default()
}

/// The edits in an order in which each does what it says: `Slash` comes after `Index`, and so on.
fn order(edits: &[usize]) -> Vec<usize> {
    let mut edits = edits.to_vec();
    edits.sort_unstable_by_key(|&edit| match EDITS[edit] {
        Edit::UpperCase => 0,
        Edit::Session => 1,
        Edit::Index => 2,
        Edit::Slash => 3,
        _ => 4,
    });
    edits
}

/// The parts of a URL.
struct Parts {
    scheme: &'static str,
    host: String,
    path: String,
    query: Vec<String>,
}

impl Parts {
    fn new(host: &str, path: &str) -> Parts {
        Parts { scheme: "https", host: host.to_owned(), path: path.to_owned(), query: Vec::new() }
    }

    fn change(&mut self, edit: Edit, draw: &mut Draw) {
        let value = draw.below(1_000_000);
        match edit {
            Edit::Param(name) => {
                let at = draw.below(self.query.len() as u32 + 1) as usize;
                self.query.insert(at, format!("{name}={value}"));
            }
            Edit::Both(one, other) => {
                self.query.push(format!("{one}={value}"));
                self.query.push(format!("{other}={}", draw.below(1_000_000)));
            }
            Edit::Reversed => self.query.reverse(),
            Edit::Slash if self.path.ends_with('/') => {}
            Edit::Slash => self.path.push('/'),
            Edit::Http => self.scheme = "http",
            Edit::Www => self.host.insert_str(0, "www."),
            Edit::Mobile => self.host.insert_str(0, "m."),
            Edit::UpperCase => self.path.make_ascii_uppercase(),
            Edit::Index => self.path.push_str("/index.html"),
            Edit::Prefix => self.path.insert_str(0, "/en"),
            Edit::Slashes => self.path.insert(0, '/'),
            Edit::Session => self.path.push_str(&format!(";jsessionid={value:032X}")),
        }
    }

    fn text(&self) -> String {
        let Parts { scheme, host, path, query } = self;
        format!("{scheme}://{host}{path}?{}", query.join("&"))
    }
}
