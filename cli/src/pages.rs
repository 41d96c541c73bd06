//! Pages to read: help on topics and commands, completions for shells, and man pages.

use std::path::Path;

use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use uriscan_files::create_directory;

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::output::{Destination, write_text};
use crate::tables::HELP_NOTE;
use crate::topics::{TOPICS, Topic, list};

/// Prints the page of a topic, the help of a command, or the list of topics.
pub(crate) fn help(typed: &args::Help) -> Result<Outcome, Failure> {
    let print = |text: &str| write_text(text, &Destination::Stdout);
    let [first, rest @ ..] = &typed.topic[..] else {
        return print(&format!(
            "{}\n`uriscan help TOPIC` prints a page, `uriscan help COMMAND` the help of a command.\n",
            list()
        ));
    };
    if let (Some(topic), []) = (TOPICS.iter().find(|topic| topic.name == first), rest) {
        let is_about_tables = ["tables", "recipes"].contains(&topic.name);
        return print(&format!("{}{}", topic.text, if is_about_tables { HELP_NOTE } else { "" }));
    }
    let mut all = args::definition();
    all.build();
    let mut command = &mut all;
    for name in &typed.topic {
        command = command.find_subcommand_mut(name).ok_or_else(|| {
            let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
            let what = format!(
                "neither a topic ({}) nor a command; `uriscan --help` lists the commands",
                topics.join(", ")
            );
            Failure::at(format_args!("help {}", typed.topic.join(" ")), what)
        })?;
    }
    print(&command.render_long_help().to_string())
}

pub(crate) fn completions(typed: &args::Completions) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(typed.shell, &mut args::complete(), "uriscan", &mut script);
    write_text(&String::from_utf8_lossy(&script), &Destination::Stdout)
}

pub(crate) fn man(typed: &args::Man) -> Result<Outcome, Failure> {
    let directory = &*typed.directory;
    if !directory.is_dir() {
        create_directory(directory).map_err(|error| Failure::at(directory.display(), error))?;
    }
    let mut all = args::definition().disable_help_subcommand(true);
    all.build();
    of_command(&all, directory)?;
    TOPICS.iter().try_for_each(|topic| of_topic(topic, directory))?;
    Ok(Outcome::Done)
}

/// Writes the pages of `command` and of the commands below it.
fn of_command(command: &clap::Command, directory: &Path) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    // Without this, the texts of options that `-h` leaves out would be missing.
    let whole = command.clone().mut_args(|arg| arg.hide_short_help(false));
    let mut page = Vec::new();
    Man::new(whole)
        .title(name.to_uppercase())
        .render(&mut page)
        .map_err(|error| Failure::at(directory.display(), error))?;
    write(&String::from_utf8_lossy(&page), &directory.join(format!("{name}.1")))?;
    command.get_subcommands().try_for_each(|command| of_command(command, directory))
}

fn of_topic(topic: &Topic, directory: &Path) -> Result<(), Failure> {
    let name = format!("uriscan-{}", topic.name);
    let mut page = Roff::new();
    page.control("TH", [&*name.to_uppercase(), "7", "", "uriscan", ""]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {}", topic.title()))]);
    page.control("SH", ["DESCRIPTION"]);
    page.control("nf", []);
    for line in topic.text.lines().skip(2) {
        page.text([roman(line)]);
    }
    page.control("fi", []);
    write(&page.render(), &directory.join(format!("{name}.7")))
}

fn write(page: &str, path: &Path) -> Result<(), Failure> {
    write_text(page, &Destination::File(path.to_owned())).map(|_| ())
}
