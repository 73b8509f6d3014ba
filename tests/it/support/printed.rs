//! What a program prints, read by threads so that it is never held up.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// What a stream printed so far, filled by a thread.
pub(super) struct Lines {
    text: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Lines {
    pub(super) fn of(stream: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while stream.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                kept.lock().expect("no panic while held").push(String::from_utf8_lossy(&line).trim_end().to_owned());
                line.clear();
            }
        });
        Self { text, reader: Some(reader) }
    }

    pub(super) fn find(&self, start: &str) -> Option<String> {
        self.text.lock().expect("no panic while held").iter().find(|line| line.starts_with(start)).cloned()
    }

    pub(super) fn all(&self) -> String {
        self.text.lock().expect("no panic while held").join("\n")
    }

    pub(super) fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader does not panic");
        }
    }
}

pub(super) fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(stream.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
