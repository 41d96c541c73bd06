//! Archives and documents in binary formats: recognized by their first bytes, and rejected with an
//! explanation.
//!
//! Read as text, a tar archive would yield its headers as records, and a zip archive noise or nothing.

use std::fmt;
use std::io;

/// A file that holds other files, or a document in a binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Container {
    /// A zip archive.
    Zip,
    /// An EPUB book, a zip archive of pages.
    Epub,
    /// An OpenDocument file (`.odt`, `.ods`, `.odp`), a zip archive of XML.
    OpenDocument,
    /// An Office Open XML file (`.docx`, `.xlsx`, `.pptx`), a zip archive of XML.
    OfficeOpenXml,
    /// A tar archive: POSIX, GNU or version 7.
    Tar,
    /// A 7z archive.
    SevenZip,
    /// A PDF document.
    Pdf,
    /// Data that were compressed by a program whose format is not read: `compress`, `lzip`, `lzop`, `lzma`, `lz4 -l`, Snappy.
    OtherCompression,
}

/// Size of a tar header in bytes.
const TAR_HEADER: usize = 512;

/// Size of the header of a file in a zip archive, without its name, in bytes.
const ZIP_HEADER: usize = 30;

impl Container {
    /// Number of first bytes that suffice to recognize all of them.
    pub const HEAD_BYTES: usize = TAR_HEADER;

    /// Recognizes data that begin with `head`; `None` if they are none of these. A list or a log in
    /// UTF-8 or UTF-16, or a page, is never recognized: a zip or 7z archive begins with control
    /// characters, a PDF with `%PDF-` and a version, and a tar header must have the right checksum.
    ///
    /// ```
    /// use uriscan_bulk::io::Container;
    /// assert_eq!(Container::of_head(b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n"), Some(Container::Pdf));
    /// assert_eq!(Container::of_head(b"http://h/a.pdf\n"), None);
    /// ```
    pub fn of_head(head: &[u8]) -> Option<Container> {
        match head {
            [b'P', b'K', 3, 4, rest @ ..] if rest.len() + 4 >= ZIP_HEADER => Some(of_zip(head)),
            // The end of an archive without files, and the signature of one in several volumes.
            [b'P', b'K', 5, 6, rest @ ..] if rest.len() + 4 >= 22 => Some(Container::Zip),
            [b'P', b'K', 7, 8, b'P', b'K', 3, 4, ..] => Some(Container::Zip),
            [b'7', b'z', 0xBC, 0xAF, 0x27, 0x1C, ..] => Some(Container::SevenZip),
            [b'%', b'P', b'D', b'F', b'-', b'0'..=b'9', b'.', b'0'..=b'9', ..] => {
                Some(Container::Pdf)
            }
            [0x1F, 0x9D, ..]
            | [b'L', b'Z', b'I', b'P', 0 | 1, ..]
            | [0x89, b'L', b'Z', b'O', 0, ..]
            | [0x02, 0x21, 0x4C, 0x18, ..]
            | [0xFF, 6, 0, 0, b's', b'N', b'a', b'P', b'p', b'Y', ..] => {
                Some(Container::OtherCompression)
            }
            // Usual properties, a size of the dictionary, and the length, which may be unknown.
            [0x5D, 0, 0, _, _, length @ ..] if is_lzma_length(length) => {
                Some(Container::OtherCompression)
            }
            _ => head.first_chunk().filter(|header| is_tar(header)).map(|_| Container::Tar),
        }
    }

    /// Whether the first bytes `head` of data are enough for [`Container::of_head`], and to recognize compression and
    /// tables: if there are [`Container::HEAD_BYTES`] of them, or a whole line of text. A producer that writes a line
    /// and waits is not asked for more.
    ///
    /// ```
    /// use uriscan_bulk::io::Container;
    /// assert!(Container::is_head(b"/\n") && !Container::is_head(b"/"));
    /// assert!(!Container::is_head(b"PK\x03\x04\n\x00"));
    /// ```
    pub fn is_head(head: &[u8]) -> bool {
        // No format begins with a line of text: PDF shows itself earlier, tar has NULs after a name.
        let is_text = |byte: &u8| !matches!(byte, 0..=8 | 11..=12 | 14..=31 | 0xF8..);
        let line = head.iter().position(|&byte| byte == b'\n');
        head.len() >= Container::HEAD_BYTES
            || line.is_some_and(|end| head[..end].iter().all(is_text))
    }

    /// A description, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Container::Zip => "a zip archive",
            Container::Epub => "an EPUB book (a zip archive of pages)",
            Container::OpenDocument => "an OpenDocument file (a zip archive of XML)",
            Container::OfficeOpenXml => {
                "an Office document (docx, xlsx or pptx: a zip archive of XML)"
            }
            Container::Tar => "a tar archive",
            Container::SevenZip => "a 7z archive",
            Container::Pdf => "a PDF document",
            Container::OtherCompression => "compressed in a format that is not read",
        }
    }

    /// How to read its content, for messages.
    pub const fn advice(self) -> &'static str {
        match self {
            Container::Zip => {
                "unpack it, as in `unzip -p FILE NAME | uriscan ...` (of WACZ 'archive/*')"
            }
            Container::Epub => {
                "unpack its pages, as in `unzip -p FILE '*html' | uriscan extract --from html`"
            }
            Container::OpenDocument | Container::OfficeOpenXml => {
                "save it as HTML or text, or unpack its XML, as in `unzip -p FILE | uriscan extract --from text`"
            }
            Container::Tar => "unpack it, as in `tar -xOf FILE | uriscan ...`",
            Container::SevenZip => "unpack it, as in `7z x -so FILE | uriscan ...`",
            Container::OtherCompression => {
                "unpack it with the program that made it, as in `lz4 -dc FILE | uriscan ...`"
            }
            Container::Pdf => "convert it to text, as in `pdftotext FILE - | uriscan extract`",
        }
    }

    /// The error if text is required: what the data are, and what to do.
    pub fn refusal(self) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, Refusal(self))
    }
}

/// The kind of a zip archive, by its first file, which EPUB and OpenDocument prescribe and Office
/// programs agree on.
fn of_zip(head: &[u8]) -> Container {
    let name_len = usize::from(u16::from_le_bytes([head[26], head[27]]));
    let extra_len = usize::from(u16::from_le_bytes([head[28], head[29]]));
    let name = head.get(ZIP_HEADER..ZIP_HEADER + name_len).unwrap_or_default();
    let content = head.get(ZIP_HEADER + name_len + extra_len..).unwrap_or_default();
    match name {
        b"mimetype" if content.starts_with(b"application/epub+zip") => Container::Epub,
        b"mimetype" if content.starts_with(b"application/vnd.oasis.opendocument") => {
            Container::OpenDocument
        }
        b"[Content_Types].xml" | b"_rels/.rels" => Container::OfficeOpenXml,
        _ => Container::Zip,
    }
}

/// Whether `bytes` begin with the length in the header of an `lzma` file: less than 1 TiB, or unknown.
fn is_lzma_length(bytes: &[u8]) -> bool {
    bytes
        .first_chunk()
        .is_some_and(|length| u64::from_le_bytes(*length) >> 40 == 0 || *length == [0xFF; 8])
}

/// Whether `header` is that of a file in a tar archive: with the right checksum, and either the
/// magic number of POSIX and GNU or, as in version 7, only NULs from there on.
fn is_tar(header: &[u8; TAR_HEADER]) -> bool {
    let sum_field = 148..156;
    let magic = &header[257..];
    let has_magic = magic.starts_with(b"ustar\0") || magic.starts_with(b"ustar ");
    if !has_magic && magic.iter().any(|&byte| byte != 0) {
        return false;
    }
    let digits = header[sum_field.clone()].trim_ascii_start();
    let len = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let sum = str::from_utf8(&digits[..len]).ok().and_then(|it| u32::from_str_radix(it, 8).ok());
    // The field itself counts as spaces. Some old programs added up signed bytes.
    let bytes = || {
        let each = header.iter().enumerate();
        each.map(|(at, &byte)| if sum_field.contains(&at) { b' ' } else { byte })
    };
    let unsigned: u32 = bytes().map(u32::from).sum();
    let signed: i32 = bytes().map(|byte| i32::from(byte.cast_signed())).sum();
    // A block of NULs and spaces is not a header.
    header[0] != 0 && sum.is_some_and(|sum| sum == unsigned || sum.cast_signed() == signed)
}

/// The error that describes binary data in place of text.
#[derive(Debug)]
struct Refusal(Container);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is {} and not text; {}", self.0.name(), self.0.advice())
    }
}

impl std::error::Error for Refusal {}

/// Fails if data that begin with `head` are a [`Container`].
pub(crate) fn refuse(head: &[u8]) -> io::Result<()> {
    Container::of_head(head).map_or(Ok(()), |container| Err(container.refusal()))
}

/// Whether `error` is from [`refuse`], about data that are not text.
pub(crate) fn is_binary(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Refusal>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a file `name` in a tar archive of the kind with this `magic`.
    fn tar(name: &str, magic: &[u8]) -> [u8; TAR_HEADER] {
        let mut header = [0; TAR_HEADER];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(b"00000000014");
        header[257..257 + magic.len()].copy_from_slice(magic);
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().copied().map(u32::from).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        header
    }

    fn zip(name: &str, content: &str) -> Vec<u8> {
        let mut head = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0".to_vec();
        head.resize(26, 0);
        head.extend([name.len() as u8, 0, 0, 0]);
        [&head[..], name.as_bytes(), content.as_bytes()].concat()
    }

    #[test]
    fn archives_and_documents_are_recognized() {
        for (head, expected) in [
            (zip("a.txt", "http://h/"), Container::Zip),
            (zip("", ""), Container::Zip),
            (zip("mimetype", "application/epub+zip"), Container::Epub),
            (zip("mimetype", "application/vnd.oasis.opendocument.text"), Container::OpenDocument),
            (zip("[Content_Types].xml", "<?xml"), Container::OfficeOpenXml),
            ([b"PK\x05\x06", &[0; 18][..]].concat(), Container::Zip),
            (b"7z\xBC\xAF\x27\x1C\0\x04".to_vec(), Container::SevenZip),
            (b"%PDF-1.4".to_vec(), Container::Pdf),
            (b"\x1F\x9D\x90http".to_vec(), Container::OtherCompression),
            (b"LZIP\x01\x14".to_vec(), Container::OtherCompression),
            (b"\x89LZO\0\r\n\x1A\n".to_vec(), Container::OtherCompression),
            (b"\x02\x21\x4C\x18\x05\0\0\0".to_vec(), Container::OtherCompression),
            (b"\xFF\x06\0\0sNaPpY".to_vec(), Container::OtherCompression),
            (
                b"\x5D\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF".to_vec(),
                Container::OtherCompression,
            ),
            (b"\x5D\0\0\x80\0\x46\0\x10\0\0\0\0\0".to_vec(), Container::OtherCompression),
            (tar("a", b"ustar\x0000").to_vec(), Container::Tar),
            (tar("http://h/", b"ustar  \0").to_vec(), Container::Tar),
            (tar("a/b.txt", b"").to_vec(), Container::Tar),
        ] {
            assert_eq!(Container::of_head(&head), Some(expected), "{head:?}");
            // Further bytes do not matter.
            let long = [&head[..], &[b'x'; 600]].concat();
            if expected != Container::Tar || head.len() == TAR_HEADER {
                assert_eq!(Container::of_head(&long), Some(expected), "{head:?}");
            }
        }
    }

    #[test]
    fn lists_and_logs_are_not_recognized() {
        let line = "http://h/ustar/PK%03%04/%PDF-1.4\n".repeat(40);
        let mut at_magic = [b'x'; TAR_HEADER];
        at_magic[257..263].copy_from_slice(b"ustar\0");
        let mut wrong_sum = tar("a", b"ustar\x0000");
        wrong_sum[0] = b'b';
        let mut zeros_behind = [0; TAR_HEADER];
        zeros_behind[..9].copy_from_slice(b"http://h/");
        for text in [
            &b""[..],
            b"P",
            b"PK",
            b"PK\x03\x04",
            b"PK\x03\x04 zip",
            b"PK\x05\x06",
            b"PKzip\n",
            b"7z\n",
            b"%PDF",
            b"]\0\0http://h/a/b/c\n",
            b"LZIP\n",
            b"\x02\x21\n",
            b"\xFF\x06sNaPpY",
            // UTF-16 and UTF-32.
            b"\xFE\xFF\0\n\0h\0t\0t\0p",
            b"\xFF\xFE\0\0h\0\0\0",
            b"%PDF-\n",
            b"%PDF-x.y\n",
            line.as_bytes(),
            &at_magic,
            &wrong_sum,
            &tar("a", b"ustar\x0000")[..511],
            &tar("a", b"posix\x0000"),
            &[0; TAR_HEADER],
            &[b' '; TAR_HEADER],
            &zeros_behind,
        ] {
            assert_eq!(Container::of_head(text), None, "{}", text.escape_ascii());
        }
    }
}
