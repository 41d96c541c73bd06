//! The steps of the levels, each a function of a text and its components.

use super::Component;
use super::step::{self, Step};
use super::trace::{Changed, Edit, Taken};
use crate::grammar::class::UNRESERVED;
use crate::grammar::{PathForm, SchemeFacts, scheme_facts};
use crate::normalize::exact::{encode_host, raw_host};
use crate::normalize::{Level, host, path_form, percent, port};
use crate::uri::dots;
use crate::uri::{Components, HostKind, UriError, parse};

/// Some components, each a bit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ComponentSet(u8);

impl ComponentSet {
    pub(super) const ALL: ComponentSet = ComponentSet(u8::MAX);

    pub(super) const fn of(components: &[Component]) -> ComponentSet {
        let (mut bits, mut i) = (0, 0);
        while i < components.len() {
            bits |= 1 << components[i] as u8;
            i += 1;
        }
        ComponentSet(bits)
    }

    pub(super) fn add(&mut self, component: Component) {
        self.0 |= ComponentSet::of(&[component]).0;
    }

    pub(super) fn has(self, component: Component) -> bool {
        self.has_any(ComponentSet::of(&[component]))
    }

    fn has_any(self, others: ComponentSet) -> bool {
        self.0 & others.0 != 0
    }
}

/// What a step makes of a text and its components.
type Take = fn(&[u8], &Components, &mut Vec<Edit>);

/// The steps of the levels, in order, each with the components on which what it does has an influence: those that it
/// changes, and those that a later step changes because of it.
const STEPS_OF_LEVELS: [(Level, Take, ComponentSet); 9] = {
    use Component::{Authority, Host, Path, Port};
    const HOST: ComponentSet = ComponentSet::of(&[Authority, Host]);
    const PORT: ComponentSet = ComponentSet::of(&[Authority, Host, Port]);
    const PATH: ComponentSet = ComponentSet::of(&[Authority, Path]);
    [
        (Level::Syntax, scheme_case, ComponentSet::ALL),
        (Level::Syntax, triplets, ComponentSet::ALL),
        (Level::Syntax, host_case, HOST),
        (Level::Syntax, dot_segments, PATH),
        (Level::Scheme, host_forms, HOST),
        (Level::Scheme, ports, PORT),
        (Level::Scheme, default_host, ComponentSet::ALL),
        (Level::Scheme, empty_path, PATH),
        (Level::Scheme, path_parts, PATH),
    ]
};

/// Performs the steps of `level` that matter for `components` of `text`, whose `parts` are known if it could be parsed.
/// Returns its parts as they are then. `edits` is a buffer, which is empty.
pub(super) fn take_all(
    text: &mut impl Changed,
    parts: Result<Components, UriError>,
    (level, components): (Level, ComponentSet),
    edits: &mut Vec<Edit>,
) -> Result<Components, UriError> {
    let mut parts = match parts {
        Err(_) if level >= Level::Scheme => {
            utf8_host(text, edits);
            parse(text.text())?
        }
        parts => parts?,
    };
    for (_, step, matters_for) in STEPS_OF_LEVELS.into_iter().filter(|(of, ..)| *of <= level) {
        if components.has_any(matters_for) {
            take(text, &mut parts, step, edits)?;
        }
    }
    Ok(parts)
}

/// The steps that make of `uri`, whose `parts` are known if it could be parsed, its form at `level`, each as often as it
/// changes something, with the component that it changes: all that change one of `components`. None if `uri` has no form.
/// `taken` is a buffer.
pub(super) fn steps_of<'t>(
    (uri, parts): (&[u8], Result<Components, UriError>),
    at: (Level, ComponentSet),
    taken: &'t mut Taken,
) -> &'t [(&'static Step, Component)] {
    taken.begin(uri);
    let mut edits = std::mem::take(&mut taken.edits);
    let is_changed = take_all(taken, parts, at, &mut edits).is_ok() && taken.text() != uri;
    edits.clear();
    taken.edits = edits;
    if is_changed { &taken.steps } else { &[] }
}

/// Performs a step that is a function of the text and its components, `parts`.
pub(super) fn take(
    text: &mut impl Changed,
    parts: &mut Components,
    step: Take,
    edits: &mut Vec<Edit>,
) -> Result<(), UriError> {
    step(text.text(), parts, edits);
    if text.apply(edits) {
        *parts = parse(text.text())?;
    }
    Ok(())
}

fn edit(
    step: &'static Step,
    component: Component,
    range: core::ops::Range<u32>,
    after: Vec<u8>,
) -> Edit {
    Edit { step, component, range: range.start as usize..range.end as usize, after }
}

/// Percent-encodes UTF-8 in the host, so that the text can be parsed.
fn utf8_host(text: &mut impl Changed, edits: &mut Vec<Edit>) {
    if let Some((start, host)) = raw_host(text.text()) {
        let range = start..start + host.len();
        let after = encode_host(host);
        edits.push(Edit { step: &step::UTF8_HOST, component: Component::Host, range, after });
        text.apply(edits);
    }
}

fn scheme_case(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let range = 0..parts.scheme_end;
    if !text[..parts.scheme_end as usize].iter().any(u8::is_ascii_uppercase) {
        return;
    }
    let after = text[..parts.scheme_end as usize].to_ascii_lowercase();
    edits.push(edit(&step::SCHEME_CASE, Component::Scheme, range, after));
}

fn triplets(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    // In a valid URI every `%` is followed by two digits.
    for at in memchr::memchr_iter(b'%', text) {
        let byte = percent::decode(text[at + 1], text[at + 2]);
        let is_upper = |digit: &u8| !digit.is_ascii_lowercase();
        if !UNRESERVED.has(byte) && text[at + 1..at + 3].iter().all(is_upper) {
            // Nearly all.
            continue;
        }
        let mut after = Vec::new();
        let step = if UNRESERVED.has(byte) {
            after.push(byte);
            &step::TRIPLET_DECODE
        } else {
            percent::push_triplet(byte, &mut after);
            &step::TRIPLET_CASE
        };
        let component = Component::at(at, parts);
        edits.push(Edit { step, component, range: at..at + 3, after });
    }
}

fn host_case(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    if let Some(before) = parts.host(text) {
        let mut after = Vec::new();
        host::syntax_into(before, parts.host_kind, &mut after);
        edits.push(edit(
            &step::HOST_CASE,
            Component::Host,
            parts.host_start..parts.host_end,
            after,
        ));
    }
}

fn dot_segments(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let before = parts.path(text);
    if !dots::is_normalized_by_dots(before) {
        return;
    }
    let mut after = before.to_vec();
    dots::remove_dot_segments(&mut after, 0);
    if parts.authority_start == 0 {
        dots::guard_against_authority(&mut after, 0);
    }
    // Only the affected segments are shown.
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let start = memchr::memrchr(b'/', &before[..same]).unwrap_or(0);
    let rest = before.len().min(after.len()) - start;
    let ends = before.iter().rev().zip(after.iter().rev()).take(rest);
    let same = ends.take_while(|(a, b)| a == b).count();
    let tail = &before[before.len() - same..];
    let kept = memchr::memchr(b'/', tail).map_or(0, |slash| tail.len() - slash);
    let path_start = parts.path_start as usize;
    edits.push(Edit {
        step: &step::DOT_SEGMENTS,
        component: Component::Path,
        range: path_start + start..path_start + before.len() - kept,
        after: after[start..after.len() - kept].to_vec(),
    });
}

fn facts(text: &[u8], parts: &Components) -> Option<&'static SchemeFacts> {
    scheme_facts(&text[..parts.scheme_end as usize])
}

fn host_forms(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    if let Some(before) = parts.host(text) {
        let is_dns = facts(text, parts).is_some_and(|facts| facts.dns_host);
        let is_ipv6 = parts.host_kind == HostKind::Ipv6;
        let mut after = Vec::new();
        host::scheme_into(before, parts.host_kind, is_dns, &mut after);
        let step = if is_ipv6 { &step::IPV6 } else { &step::IDNA };
        edits.push(edit(step, Component::Host, parts.host_start..parts.host_end, after));
    }
}

fn ports(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let Some(digits) = parts.port(text) else { return };
    let default = facts(text, parts).and_then(|facts| facts.default_port);
    let (step, after) = match port::canonical(digits, default) {
        Some(kept) => (&step::PORT_ZEROS, [b":", kept].concat()),
        None if digits.is_empty() => (&step::EMPTY_PORT, Vec::new()),
        None => (&step::DEFAULT_PORT, Vec::new()),
    };
    edits.push(edit(step, Component::Port, parts.host_end..parts.path_start, after));
}

fn default_host(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let default = facts(text, parts).and_then(|facts| facts.default_host);
    if default.is_some() && parts.authority_start == 0 && parts.path(text).starts_with(b"/") {
        // What kept the path from looking like an authority is not needed any more.
        let guard = if parts.path(text).starts_with(b"/.//") { 2 } else { 0 };
        let range = parts.path_start..parts.path_start + guard;
        edits.push(edit(&step::DEFAULT_HOST, Component::Authority, range, b"//".to_vec()));
        return;
    }
    let is_alone = parts.userinfo(text).is_none() && parts.port(text).is_none();
    if is_alone && default.is_some_and(|default| parts.host(text) == Some(default.as_bytes())) {
        let range = parts.host_start..parts.host_end;
        edits.push(edit(&step::DEFAULT_HOST, Component::Host, range, Vec::new()));
    }
}

fn empty_path(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let is_root = facts(text, parts).is_none_or(|facts| facts.empty_path_is_root);
    if is_root && parts.authority_start != 0 && parts.path_start == parts.path_end {
        let range = parts.path_start..parts.path_end;
        edits.push(edit(&step::EMPTY_PATH, Component::Path, range, b"/".to_vec()));
    }
}

fn path_parts(text: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    if parts.authority_start != 0 {
        return;
    }
    let form = facts(text, parts).map_or(PathForm::Generic, |facts| facts.path_form);
    let step = match form {
        PathForm::Generic => return,
        PathForm::Mailto => &step::MAILTO_DOMAIN,
        PathForm::Urn => &step::URN_NID,
    };
    let mut after = parts.path(text).to_vec();
    path_form::lower_parts(form, &mut after);
    edits.push(edit(step, Component::Path, parts.path_start..parts.path_end, after));
}

pub(super) fn fragment(_: &[u8], parts: &Components, edits: &mut Vec<Edit>) {
    let range = parts.query_end..parts.len;
    edits.push(edit(&step::FRAGMENT, Component::Fragment, range, Vec::new()));
}
