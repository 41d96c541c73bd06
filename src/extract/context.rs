//! The places in which links are found.

/// The kind of place in which a link was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Context {
    /// In running text.
    #[default]
    Text,
    /// In an `href`.
    Href,
    /// In a `src`.
    Src,
    /// In a `srcset` or `imagesrcset`.
    Srcset,
    /// In the `action` of a form.
    Action,
    /// In a `formaction`.
    Formaction,
    /// In a `cite`.
    Cite,
    /// In the `data` of an `object`.
    Data,
    /// In a `poster`.
    Poster,
    /// In a `background`.
    Background,
    /// In a `longdesc`.
    Longdesc,
    /// In a `meta` element with a refresh.
    Refresh,
    /// In a string or field of a record.
    Field,
    /// The target of a request in an access log, or of an archived record.
    Target,
    /// The referrer of a request in an access log.
    Referer,
    /// In the user agent of a request in an access log.
    Agent,
    /// In a Markdown link that holds its destination.
    Inline,
    /// In a Markdown link whose destination is defined elsewhere in the document.
    Reference,
    /// Between `<` and `>` in a Markdown document.
    Autolink,
    /// In an image of a Markdown document, or of a sitemap or feed.
    Image,
    /// The location of a page in a sitemap.
    Loc,
    /// The location of a sitemap, in an index of sitemaps or a robots.txt.
    Sitemap,
    /// In a `link` of a feed, or in the field `Link` of an archived response.
    Link,
    /// In a field of the header of a message, such as `List-Unsubscribe`.
    Header,
    /// The permanent link of an item of a feed.
    Guid,
    /// The comments on an item of a feed.
    Comments,
    /// The file that belongs to an item of a feed.
    Enclosure,
    /// A video, sound or picture of a sitemap or feed.
    Media,
    /// The page of an author of a feed.
    Author,
    /// A feed or page in an outline (OPML).
    Outline,
    /// In a `url()` of a style sheet.
    Url,
    /// In an `@import` of a style sheet.
    Import,
    /// In the field `Location` of an archived response.
    Location,
    /// In the style of an element.
    Style,
    /// In a member of JSON-LD in a page.
    JsonLd,
    /// In a `meta` element for a URL.
    Meta,
    /// In a `data-*` attribute.
    DataAttribute,
}

impl Context {
    /// The stable name used in machine output.
    pub const fn name(self) -> &'static str {
        match self {
            Context::Text => "text",
            Context::Href => "href",
            Context::Src => "src",
            Context::Srcset => "srcset",
            Context::Action => "action",
            Context::Formaction => "formaction",
            Context::Cite => "cite",
            Context::Data => "data",
            Context::Poster => "poster",
            Context::Background => "background",
            Context::Longdesc => "longdesc",
            Context::Refresh => "refresh",
            Context::Field => "field",
            Context::Target => "target",
            Context::Referer => "referer",
            Context::Agent => "agent",
            Context::Inline => "inline",
            Context::Reference => "reference",
            Context::Autolink => "autolink",
            Context::Image => "image",
            Context::Loc => "loc",
            Context::Sitemap => "sitemap",
            Context::Link => "link",
            Context::Header => "header",
            Context::Guid => "guid",
            Context::Comments => "comments",
            Context::Enclosure => "enclosure",
            Context::Media => "media",
            Context::Author => "author",
            Context::Outline => "outline",
            Context::Url => "url",
            Context::Import => "import",
            Context::Location => "location",
            Context::Style => "style",
            Context::JsonLd => "json-ld",
            Context::Meta => "meta",
            Context::DataAttribute => "data-*",
        }
    }
}
