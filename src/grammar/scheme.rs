//! What is known about schemes.

/// Facts that the rung `scheme` (6.2.3) needs about one scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemeFacts {
    /// The scheme's name, lower case.
    pub name: &'static str,
    /// The port assumed when none is given.
    pub default_port: Option<u16>,
    /// Whether an empty path after an authority equals `/`.
    pub empty_path_is_root: bool,
    /// The host that an empty host stands for: `file://localhost/` is `file:///`.
    pub default_host: Option<&'static str>,
    /// Whether the host is a DNS name, so that IDNA applies to it.
    pub dns_host: bool,
    /// What the path of a URI without authority is, where its case rules differ from the generic ones.
    pub path_form: PathForm,
    /// Where these facts are written down.
    pub source: &'static str,
}

/// Scheme-specific shape of the path of a URI that has no authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathForm {
    /// Nothing beyond the generic syntax.
    Generic,
    /// Comma-separated `local@domain` addresses whose domains are DNS names (RFC 6068).
    Mailto,
    /// `NID:NSS`, the NID without case (RFC 8141).
    Urn,
}

/// The facts about the scheme `name` (any case), or `None` for a scheme not in the table.
pub fn scheme_facts(name: &[u8]) -> Option<&'static SchemeFacts> {
    let _ = name;
    None
}
