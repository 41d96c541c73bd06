//! Contents as streams, read ahead.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::error::wrong_length;
use super::fetch::{Content, Place};
use super::web::{Fault, Known, Page, Retry, broken};
use uriscan_files::escape::counted;

/// Bytes of the first part that is requested, so that a look at the beginning costs little; each next one is twice as large.
const FIRST_PART: u64 = 256 << 10;

/// Bytes of a part at most.
const LARGEST_PART: u64 = 4 << 20;

/// Parts that are requested at the same time.
const MOST_PARTS: usize = 6;

/// Pieces of a response that wait to be read, some kilobytes each.
const MOST_PIECES: usize = 128;

/// A stream of `content` from its first byte to its last one.
pub(super) fn stream(content: &Arc<Content>) -> Box<dyn Read + Send> {
    match &content.place {
        Place::Web { page, known } if !content.has_ranges => {
            let (page, known) = (page.clone(), known.clone());
            let content = Arc::clone(content);
            Box::new(Pieces { page, known, content, pieces: None, current: Cursor::default() })
        }
        _ => Box::new(Parts {
            content: Arc::clone(content),
            asked: 0,
            part: FIRST_PART,
            most: 1,
            pending: VecDeque::new(),
            current: Cursor::default(),
        }),
    }
}

/// A content that is requested part by part.
struct Parts {
    content: Arc<Content>,
    /// Bytes that have been requested.
    asked: u64,
    /// Bytes of the next part.
    part: u64,
    /// Parts that may be pending: more as the stream is read on.
    most: usize,
    pending: VecDeque<JoinHandle<io::Result<Vec<u8>>>>,
    current: Cursor<Vec<u8>>,
}

impl Parts {
    fn request(&mut self) {
        let bytes = self.content.bytes.unwrap_or(0);
        while self.pending.len() < self.most && self.asked < bytes {
            let end = bytes.min(self.asked + self.part);
            let (content, range) = (Arc::clone(&self.content), self.asked..end);
            let task = async move { content.read(range).await };
            self.pending.push_back(self.content.engine.runtime.spawn(task));
            self.asked = end;
            self.part = (2 * self.part).min(LARGEST_PART);
        }
    }

    fn cancel(&mut self) {
        self.pending.drain(..).for_each(|task| task.abort());
    }
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = self.current.read(buffer)?;
        if count > 0 {
            return Ok(count);
        }
        self.request();
        let Some(next) = self.pending.pop_front() else { return Ok(0) };
        self.most = (self.most + 1).min(MOST_PARTS);
        self.request();
        let part = self.content.engine.runtime.block_on(next).map_err(io::Error::other)?;
        if part.is_err() {
            // The stream has no end, only this error.
            self.cancel();
            self.asked = self.content.bytes.unwrap_or(0);
        }
        self.current = Cursor::new(part?);
        self.current.read(buffer)
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// A content that comes in one response.
struct Pieces {
    page: Page,
    known: Known,
    content: Arc<Content>,
    /// Those that have come, once they have been requested.
    pieces: Option<mpsc::Receiver<io::Result<Vec<u8>>>>,
    current: Cursor<Vec<u8>>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let count = self.current.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let pieces = self.pieces.get_or_insert_with(|| {
                let (send, pieces) = mpsc::channel(MOST_PIECES);
                let of = (self.page.clone(), self.known.clone());
                self.content.engine.runtime.spawn(forward(of, send));
                pieces
            });
            let Some(piece) = pieces.blocking_recv() else { return Ok(0) };
            self.current = Cursor::new(piece?);
        }
    }
}

/// Sends the content of `page` piece by piece, until nobody receives it.
async fn forward((page, known): (Page, Known), send: mpsc::Sender<io::Result<Vec<u8>>>) {
    let (mut retry, mut sent) = (Retry::new(), 0);
    while let Err(fault) = pass_on(&page, &known, &mut sent, &send).await {
        let fault = match fault {
            // The rest cannot be requested alone.
            Fault::Passing(error) if sent > 0 => {
                Fault::Final(io::Error::other(format!("{error}, after {}", counted(sent, "byte"))))
            }
            fault => fault,
        };
        if let Err(error) = retry.after(fault).await {
            let _ = send.send(Err(error)).await;
            return;
        }
    }
}

async fn pass_on(
    page: &Page,
    known: &Known,
    sent: &mut u64,
    send: &mpsc::Sender<io::Result<Vec<u8>>>,
) -> Result<(), Fault> {
    let (mut response, expected) = page.whole(known).await?;
    while let Some(bytes) = response.chunk().await.map_err(|error| broken(&error))? {
        *sent += bytes.len() as u64;
        if let Some(expected) = expected.filter(|&expected| *sent > expected) {
            return Err(Fault::Final(wrong_length(*sent, expected)));
        }
        if send.send(Ok(bytes.to_vec())).await.is_err() {
            return Ok(());
        }
    }
    match expected {
        Some(expected) if *sent < expected => Err(Fault::Passing(wrong_length(*sent, expected))),
        _ => Ok(()),
    }
}
