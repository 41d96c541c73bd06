//! Where sources are cut: archives after records, all others after lines.

use std::io;

use uriscan_bulk::io::read::cut::Cut;
use uriscan_bulk::pipeline::{ExtractOptions, cut_documents};
use uriscan_core::extract::{Format, Kind, warc};

/// Cuts archives and lines.
pub(super) struct ArchivesAndLines {
    /// Cuts archives.
    archives: Box<dyn Cut>,
    /// Whether the source is one.
    is_archive: bool,
}

impl ArchivesAndLines {
    pub(super) fn new() -> ArchivesAndLines {
        let options = ExtractOptions::default().format(Format::Warc);
        ArchivesAndLines { archives: cut_documents(&options, b'\n'), is_archive: false }
    }
}

impl Cut for ArchivesAndLines {
    fn needs_head(&self) -> bool {
        true
    }

    fn begin(&mut self, name: &str, head: &[u8]) -> io::Result<Kind> {
        self.is_archive = warc::is_archive(head);
        if self.is_archive { self.archives.begin(name, head) } else { Ok(Kind::default()) }
    }

    fn last_end(&mut self, content: &[u8]) -> Option<usize> {
        match self.is_archive {
            true => self.archives.last_end(content),
            false => memchr::memrchr(b'\n', content).map(|at| at + 1),
        }
    }

    fn long_end(&mut self, content: &[u8]) -> Option<usize> {
        match self.is_archive {
            true => self.archives.long_end(content),
            false => memchr::memchr(b'\n', content).map(|at| at + 1),
        }
    }

    fn line_end(&self) -> Option<u8> {
        if self.is_archive { self.archives.line_end() } else { Some(b'\n') }
    }
}
