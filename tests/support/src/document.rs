//! Documents that the registry serves: a body in memory or on disk, and its content type.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

/// The body of a response.
#[derive(Debug, Clone)]
pub enum ResponseBody {
    /// Bytes in memory.
    Bytes(Arc<[u8]>),
    /// A file that is never read into memory as a whole.
    File {
        path: PathBuf,
        /// The length in bytes.
        size: u64,
    },
    /// This number of zeros, which are generated while they are sent.
    Zeros(u64),
}

impl ResponseBody {
    /// Creates a body from these bytes.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes(bytes.into().into())
    }

    /// Returns the number of bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { size, .. } | Self::Zeros(size) => *size,
        }
    }

    /// Returns a reader that starts at `offset`.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub fn read_from(&self, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Bytes(bytes) => {
                let mut cursor = Cursor::new(Arc::clone(bytes));
                cursor.set_position(offset);
                Ok(Box::new(cursor))
            }
            Self::File { path, .. } => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(offset))?;
                Ok(Box::new(file))
            }
            Self::Zeros(size) => Ok(Box::new(io::repeat(0).take(size.saturating_sub(offset)))),
        }
    }

    /// Returns all bytes. Use this method for small documents only.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.read_from(0)
            .and_then(|mut reader| reader.read_to_end(&mut bytes))
            .expect("the registry's own files are readable");
        bytes
    }
}

/// A body and its content type.
#[derive(Debug, Clone)]
pub struct Document {
    /// The value of `Content-Type`.
    pub content_type: String,
    pub body: ResponseBody,
}

impl Document {
    /// Creates a document with this content type.
    pub fn new(content_type: &str, body: ResponseBody) -> Self {
        let content_type = content_type.to_owned();
        Self { content_type, body }
    }

    /// Creates a JSON document.
    pub fn json(value: &serde_json::Value) -> Self {
        Self::new("application/json", ResponseBody::bytes(value.to_string()))
    }

    /// Creates a document with the content type `application/octet-stream`.
    pub fn octets(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new("application/octet-stream", ResponseBody::bytes(bytes))
    }
}
