//! Options that commands take and do not list, so that a help fits on a few screens: each is explained in one place, and
//! completions offer it everywhere.

/// Who explains options, the commands by their names or a topic, and the options by their identifiers.
const EXPLAINED: [(&[&str], &str); 6] = [
    (
        &["extract"],
        "link_column log_format log_field status method since until warc_field also warc_type mime unwrap bare_hosts email refang \
         unsplit index scheme not_scheme not_host not_domain not_match max_segments max_repeats max_params max_length \
         host_file domain_file match_file not_host_file not_domain_file not_match_file",
    ),
    (&["resolve"], "base lenient_scheme suffix_scheme"),
    (&["audit", "normalize"], "redact"),
    (&["key", "set create"], "hash"),
    (&["help tuning"], "backend chunk_size max_expansion temp_dir approx"),
    (
        &["help tables"],
        "into delimiter no_header quote no_uri with sort_by no_hive rows_per_file bytes_per_file partition_by max_partitions",
    ),
];

/// Who takes an option that all others refuse, which have it as a part of a group.
const REFUSED: (&[&str], &str) = (&["dedup", "normalize", "key", "top"], "aliases");

/// Whether the option `id` of `command` is not listed: it is explained elsewhere, or refused.
pub(super) fn is_elsewhere(command: &str, id: &str) -> bool {
    let all = EXPLAINED.iter().chain([&REFUSED]);
    let mut found = all.filter(|(_, ids)| ids.split(' ').any(|known| known == id));
    found.any(|(owners, _)| !owners.contains(&command))
}

/// Where the options of `command` are explained that are not listed, with the first of them: those among the `ids` that it takes.
pub(super) fn elsewhere(command: &str, ids: &[String]) -> Option<String> {
    const SHOWN: usize = 3;
    let others = EXPLAINED.iter().filter(|(owners, _)| !owners.contains(&command));
    let places = others.filter_map(|(owners, known)| {
        let taken: Vec<String> = known
            .split(' ')
            .filter(|id| ids.iter().any(|taken| taken == id))
            .map(name_of)
            .collect();
        let (shown, rest) = taken.split_at(taken.len().min(SHOWN));
        let more = if rest.is_empty() { "" } else { " ..." };
        let place = match owners[0].strip_prefix("help ") {
            Some(topic) => format!("uriscan help {topic}"),
            None => format!("uriscan {} --help", owners[0]),
        };
        (!shown.is_empty()).then(|| format!("{}{more} (`{place}`)", shown.join(" ")))
    });
    let places: Vec<String> = places.collect();
    (!places.is_empty()).then(|| format!("More options: {}.", places.join(", ")))
}

/// The name of the option `id`.
fn name_of(id: &str) -> String {
    format!("--{}", id.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::TOPICS;

    #[test]
    fn what_is_not_listed_is_explained_where_it_should_be() {
        let all = super::super::definition();
        let dedup = super::super::complete();
        for (owners, ids) in EXPLAINED.into_iter().chain([REFUSED]) {
            for id in ids.split(' ') {
                let mut commands = dedup.get_subcommands();
                let arg = commands.find_map(|it| it.get_arguments().find(|arg| arg.get_id() == id));
                let arg = arg.unwrap_or_else(|| panic!("no command takes {id}"));
                let long = format!("--{}", arg.get_long().unwrap());
                assert_eq!(long, name_of(id));
                for owner in owners {
                    let topic =
                        TOPICS.iter().find(|it| owner.strip_prefix("help ") == Some(it.name));
                    let is_explained = match topic {
                        Some(topic) => {
                            topic.text.split([' ', '\n', ',', '=', '.']).any(|it| it == long)
                        }
                        None => {
                            let mut words = owner.split(' ');
                            let command = words.try_fold(&all, |at, word| at.find_subcommand(word));
                            let mut args = command.unwrap().get_arguments();
                            args.any(|arg| arg.get_id() == id && !arg.is_hide_set())
                        }
                    };
                    assert!(is_explained, "{owner} does not explain {long}");
                }
            }
        }
    }
}
