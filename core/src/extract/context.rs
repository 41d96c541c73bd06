//! The places in which links are found.

named! {
    /// The kind of place in which a link was found.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Context {
        /// In running text.
        #[default]
        Text = "text",
        /// In an `href`.
        Href = "href",
        /// In a `src`.
        Src = "src",
        /// In a `srcset` or `imagesrcset`.
        Srcset = "srcset",
        /// In the `action` of a form.
        Action = "action",
        /// In a `formaction`.
        Formaction = "formaction",
        /// In a `cite`.
        Cite = "cite",
        /// In the `data` of an `object`.
        Data = "data",
        /// In a `poster`.
        Poster = "poster",
        /// In a `background`.
        Background = "background",
        /// In a `longdesc`.
        Longdesc = "longdesc",
        /// In a `meta` element with a refresh.
        Refresh = "refresh",
        /// In a string or field of a record.
        Field = "field",
        /// The target of a request in an access log, or of an archived record.
        Target = "target",
        /// The referrer of a request in an access log.
        Referer = "referer",
        /// In the user agent of a request in an access log.
        Agent = "agent",
        /// In a Markdown link that holds its destination.
        Inline = "inline",
        /// In a Markdown link whose destination is defined elsewhere in the document.
        Reference = "reference",
        /// Between `<` and `>` in a Markdown document.
        Autolink = "autolink",
        /// In an image of a Markdown document, or of a sitemap or feed.
        Image = "image",
        /// The location of a page in a sitemap.
        Loc = "loc",
        /// The location of a sitemap, in an index of sitemaps or a robots.txt.
        Sitemap = "sitemap",
        /// In a `link` of a feed, or in the field `Link` of an archived response.
        Link = "link",
        /// In a field of the header of a message, such as `List-Unsubscribe`.
        Header = "header",
        /// The permanent link of an item of a feed.
        Guid = "guid",
        /// The comments on an item of a feed.
        Comments = "comments",
        /// The file that belongs to an item of a feed.
        Enclosure = "enclosure",
        /// A video, sound or picture of a sitemap or feed.
        Media = "media",
        /// The page of an author of a feed.
        Author = "author",
        /// A feed or page in an outline (OPML).
        Outline = "outline",
        /// In a `url()` of a style sheet.
        Url = "url",
        /// In an `@import` of a style sheet.
        Import = "import",
        /// In the field `Location` of an archived response.
        Location = "location",
        /// In the field `Content-Location` of an archived response.
        ContentLocation = "content-location",
        /// In an inline script of a page.
        Script = "script",
        /// In the style of an element.
        Style = "style",
        /// In a member of JSON-LD in a page.
        JsonLd = "json-ld",
        /// In a `meta` element for a URL.
        Meta = "meta",
        /// In the text of an element of XML.
        Element = "element",
        /// In an attribute of XML, or one of a page that is read on request.
        Attribute = "attribute",
        /// In a `data-*` attribute.
        DataAttribute = "data-*",
    }
}

impl Context {
    /// Whether links of this kind stand in markup (HTML, XML or Markdown), whose character references are decoded when it
    /// is read.
    pub const fn is_of_markup(self) -> bool {
        !matches!(
            self,
            Context::Text
                | Context::Field
                | Context::Target
                | Context::Referer
                | Context::Agent
                | Context::Url
                | Context::Import
                | Context::Location
                | Context::ContentLocation
                | Context::Script
                | Context::Header
                | Context::JsonLd
        )
    }
}
