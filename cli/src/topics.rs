//! The pages of `uriscan help TOPIC`, compiled in.

/// A topic and its page, whose first line is its title.
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Topic {
    pub(crate) fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default()
    }
}

pub(crate) const TOPICS: [Topic; 11] = [
    Topic { name: "ladder", text: include_str!("topics/ladder.txt") },
    Topic { name: "rules", text: include_str!("topics/rules.txt") },
    Topic { name: "repairs", text: include_str!("topics/repairs.txt") },
    Topic { name: "sets", text: include_str!("topics/sets.txt") },
    Topic { name: "formats", text: include_str!("topics/formats.txt") },
    Topic { name: "tables", text: include_str!("topics/tables.txt") },
    Topic { name: "memory", text: include_str!("topics/memory.txt") },
    Topic { name: "tuning", text: include_str!("topics/tuning.txt") },
    Topic { name: "stats", text: include_str!("topics/stats.txt") },
    Topic { name: "exit-codes", text: include_str!("topics/exit-codes.txt") },
    Topic { name: "recipes", text: include_str!("topics/recipes.txt") },
];

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.name)
}

pub(crate) fn list() -> String {
    let mut text = "Topics:\n".to_owned();
    for topic in &TOPICS {
        text += &format!("  {:<12}{}\n", topic.name, topic.title());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_fit_a_screen() {
        for Topic { name, text } in &TOPICS {
            assert!(text.lines().count() <= 40, "{name} is long");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{name} is wide");
            assert!(text.ends_with('\n') && !text.contains("\n\n\n"), "{name}");
        }
    }
}
