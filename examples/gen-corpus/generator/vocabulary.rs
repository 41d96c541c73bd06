//! The vocabulary of the generated URIs.
//!
//! Uniqueness and canonical form depend on these rules (see `token.rs` and `spelling.rs`;
//! `tests/bulk/corpora.rs` checks both): no entry holds a run of letters and digits with the shape of a
//! token; triplets are upper case and encode no unreserved character; nothing is a dot segment.

/// A short word padded to a width that is copied in one store: most of a corpus is made of these.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    bytes: [u8; 16],
    len: u8,
}

impl Word {
    /// Appends the word.
    #[inline]
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let end = out.len() + usize::from(self.len);
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }
}

const fn padded<const N: usize>(words: [&str; N]) -> [Word; N] {
    let mut all = [Word { bytes: [0; 16], len: 0 }; N];
    let mut row = 0;
    while row < N {
        let word = words[row].as_bytes();
        assert!(word.len() <= 16);
        all[row].bytes.split_at_mut(word.len()).0.copy_from_slice(word);
        all[row].len = word.len() as u8;
        row += 1;
    }
    all
}

/// Second-level domains, sections of sites, parts of slugs.
pub(crate) static WORDS: [Word; 192] = padded([
    "about",
    "account",
    "action",
    "album",
    "alpha",
    "amber",
    "anchor",
    "apple",
    "archive",
    "art",
    "article",
    "asset",
    "atlas",
    "auction",
    "author",
    "autumn",
    "bakery",
    "banner",
    "basic",
    "beach",
    "bicycle",
    "blog",
    "blue",
    "board",
    "book",
    "bridge",
    "bright",
    "browse",
    "budget",
    "build",
    "cabin",
    "calendar",
    "camera",
    "campus",
    "canvas",
    "career",
    "cart",
    "catalog",
    "category",
    "center",
    "channel",
    "chapter",
    "chart",
    "checkout",
    "cinema",
    "city",
    "classic",
    "cloud",
    "coffee",
    "collection",
    "comment",
    "community",
    "compare",
    "contact",
    "content",
    "corner",
    "country",
    "course",
    "craft",
    "culture",
    "customer",
    "daily",
    "data",
    "deal",
    "debate",
    "delta",
    "design",
    "detail",
    "digital",
    "direct",
    "discover",
    "doc",
    "download",
    "dragon",
    "dream",
    "eagle",
    "earth",
    "editor",
    "education",
    "election",
    "engine",
    "event",
    "express",
    "fabric",
    "falcon",
    "family",
    "fashion",
    "feature",
    "feed",
    "festival",
    "field",
    "film",
    "finance",
    "fitness",
    "flower",
    "food",
    "football",
    "forest",
    "forum",
    "fresh",
    "gallery",
    "game",
    "garden",
    "gear",
    "gift",
    "global",
    "golden",
    "green",
    "group",
    "guide",
    "harbor",
    "health",
    "help",
    "history",
    "holiday",
    "home",
    "hotel",
    "house",
    "image",
    "index",
    "island",
    "item",
    "journal",
    "jungle",
    "kitchen",
    "label",
    "lake",
    "lamp",
    "language",
    "leather",
    "library",
    "light",
    "list",
    "local",
    "login",
    "magazine",
    "maple",
    "market",
    "media",
    "member",
    "metro",
    "mirror",
    "mobile",
    "moon",
    "morning",
    "mountain",
    "movie",
    "museum",
    "music",
    "network",
    "new",
    "news",
    "night",
    "ocean",
    "office",
    "online",
    "orange",
    "page",
    "paper",
    "park",
    "partner",
    "people",
    "photo",
    "planet",
    "player",
    "policy",
    "post",
    "press",
    "price",
    "privacy",
    "product",
    "profile",
    "project",
    "public",
    "question",
    "radio",
    "recipe",
    "release",
    "report",
    "review",
    "river",
    "road",
    "school",
    "science",
    "search",
    "season",
    "sport",
    "story",
    "summer",
    "team",
    "ticket",
    "travel",
]);

/// Words with significant upper-case letters: paths are case-sensitive.
pub(crate) const TITLES: [&str; 24] = [
    "Main_Page",
    "About",
    "README",
    "Category:History",
    "Products",
    "Special:Search",
    "Home",
    "Images",
    "UserProfile",
    "getItem",
    "Default",
    "Documents",
    "LICENSE",
    "Talk:Bridge",
    "ViewTopic",
    "Content",
    "PDF",
    "Upload",
    "ShowThread",
    "New_York",
    "Portal:Science",
    "Files",
    "DisplayArticle",
    "Resources",
];

/// Segments with triplets that must stay, in canonical spelling.
pub(crate) const ENCODED: [&str; 24] = [
    "caf%C3%A9",
    "%C3%A9t%C3%A9",
    "M%C3%BCnchen",
    "ni%C3%B1o",
    "na%C3%AFve",
    "%E6%97%A5%E6%9C%AC",
    "%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8",
    "S%C3%A3o_Paulo",
    "%E4%B8%AD%E6%96%87",
    "cr%C3%A8me",
    "annual%20report",
    "my%20photo",
    "New%20York",
    "price%20list",
    "read%20me",
    "summer%20sale",
    "AC%2FDC",
    "rock%2Froll",
    "black%26white",
    "full%25",
    "%5Bdraft%5D",
    "C%23",
    "%7Bid%7D",
    "a%3Ab",
];

/// Segments with delimiters that a path may hold unencoded.
pub(crate) const DELIMITED: [&str; 16] = [
    "@editor",
    "@travel",
    "@daily",
    "Bridge_(film)",
    "rock'n'roll",
    "a,b,c",
    "list;sort=price",
    "black+white",
    "~smith",
    "~garden",
    "one&two",
    "wow!",
    "from:home",
    "user@market",
    "star*",
    "$price",
];

/// Names of people, for `~user`, mail and SIP.
pub(crate) const PEOPLE: [&str; 16] = [
    "anna", "ben", "carla", "david", "emma", "felix", "grace", "hugo", "info", "julia", "karl",
    "lena", "office", "paul", "sales", "support",
];

/// Syllables of made-up site names.
pub(crate) static SYLLABLES: [Word; 48] = padded([
    "ba", "bel", "bo", "cal", "ce", "cor", "da", "del", "do", "el", "fa", "fin", "ga", "gro",
    "hel", "in", "ja", "ka", "kin", "la", "lo", "lum", "ma", "mer", "mo", "na", "nex", "no", "or",
    "pa", "per", "qui", "ra", "ro", "sa", "sol", "su", "ta", "ter", "tri", "u", "va", "ver", "vi",
    "wa", "xe", "yo", "zen",
]);

/// Public suffixes; the more common ones occur more than once.
pub(crate) static SUFFIXES: [Word; 32] = padded([
    "com", "com", "com", "com", "com", "com", "com", "com", "com", "com", "org", "org", "org",
    "net", "net", "de", "de", "co.uk", "co.uk", "fr", "it", "nl", "ru", "pl", "com.br", "jp",
    "com.au", "edu", "gov", "io", "info", "ca",
]);

/// Labels before the site's name, other than `www`.
pub(crate) const SUBDOMAINS: [&str; 24] = [
    "blog",
    "shop",
    "en",
    "de",
    "m",
    "news",
    "forum",
    "static",
    "cdn",
    "img",
    "images",
    "media",
    "api",
    "docs",
    "wiki",
    "support",
    "old",
    "mail",
    "store",
    "beta",
    "cdn2",
    "img1",
    "www2",
    "data.archive",
];

/// Internationalized labels: the A-label and its UTF-8 in canonical triplets.
pub(crate) const IDN: [(&str, &str); 10] = [
    ("xn--bcher-kva", "b%C3%BCcher"),
    ("xn--mnchen-3ya", "m%C3%BCnchen"),
    ("xn--zrich-kva", "z%C3%BCrich"),
    ("xn--caf-dma", "caf%C3%A9"),
    ("xn--espaa-rta", "espa%C3%B1a"),
    ("xn--e1afmkfd", "%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80"),
    ("xn--fiqs8s", "%E4%B8%AD%E5%9B%BD"),
    ("xn--wgv71a119e", "%E6%97%A5%E6%9C%AC%E8%AA%9E"),
    ("xn--hxajbheg2az3al", "%CF%80%CE%B1%CF%81%CE%AC%CE%B4%CE%B5%CE%B9%CE%B3%CE%BC%CE%B1"),
    ("xn--qubec-csa", "qu%C3%A9bec"),
];

/// File name extensions.
pub(crate) static EXTENSIONS: [Word; 20] = padded([
    ".html", ".html", ".html", ".html", ".htm", ".php", ".php", ".aspx", ".jsp", ".jpg", ".jpg",
    ".png", ".gif", ".pdf", ".js", ".css", ".xml", ".json", ".tar.gz", ".mp4",
]);

/// Language and version segments.
pub(crate) const SHORT: [&str; 16] = [
    "en",
    "de",
    "fr",
    "es",
    "en-US",
    "pt-br",
    "v1",
    "v2",
    "api",
    "p",
    "tag",
    "wp-content",
    "u",
    "id",
    "t",
    "s",
];

/// Names of query parameters.
pub(crate) static KEYS: [Word; 32] = padded([
    "id",
    "page",
    "q",
    "lang",
    "sort",
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "ref",
    "cat",
    "view",
    "type",
    "s",
    "t",
    "v",
    "p",
    "tab",
    "filter",
    "limit",
    "offset",
    "action",
    "session",
    "sid",
    "user",
    "from",
    "year",
    "format",
    "fbclid",
    "order_by",
    "item%5B%5D",
    "redirect",
    "mode",
]);

/// Query values that are neither words nor numbers.
pub(crate) const VALUES: [&str; 24] = [
    "true",
    "false",
    "",
    "en-US",
    "desc",
    "newest",
    "all",
    "black+white",
    "new%20york",
    "summer%20sale",
    "caf%C3%A9",
    "%D0%BC%D0%B8%D1%80",
    "a%2Cb%2Cc",
    "https%3A%2F%2Fwww.market.com%2F",
    "%2Fhome%2Findex.html",
    "one/two",
    "what?",
    "12:30",
    "me@home",
    "full%25",
    "~all",
    "a;b",
    "rss",
    "(none)",
];

/// Ports that are the default of no scheme used here.
pub(crate) const PORTS: [&str; 8] =
    [":8080", ":8443", ":3000", ":8000", ":5000", ":81", ":8888", ":9090"];

/// Userinfo with its `@`.
pub(crate) const USERS: [&str; 6] =
    ["user@", "admin:secret@", "guest:guest@", "anonymous@", "git@", "Anna%40home@"];

/// Namespaces of URNs.
pub(crate) const NAMESPACES: [&str; 8] =
    ["isbn:", "issn:", "oid:", "nbn:de:", "doi:", "lex:eu:", "example:a:", "ietf:rfc:"];

/// News groups.
pub(crate) const GROUPS: [&str; 6] = [
    "comp.lang.c.",
    "rec.games.",
    "sci.space.",
    "alt.binaries.",
    "de.etc.",
    "comp.infosystems.www.",
];
