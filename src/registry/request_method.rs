//! Methods of requests, and the content of those that change something on a server.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use futures_util::stream::try_unfold;
use reqwest::{Body, Method};
use tokio::io::AsyncReadExt as _;

use crate::registry::request_error::{CauseText, RequestFault};

/// The size in bytes of the pieces in which a file is sent.
const PIECE: usize = 64 * 1024;

/// The method of a request, with its content.
#[derive(Clone, Debug, Default)]
pub(super) enum RequestMethod {
    #[default]
    Get,
    Head,
    /// Without content.
    Post,
    Put(RequestContent),
}

#[derive(Clone, Debug)]
pub(super) enum RequestContent {
    Bytes(Bytes),
    File(UploadFile),
}

/// A file to upload. Clones share the progress.
#[derive(Clone, Debug)]
pub(super) struct UploadFile {
    path: PathBuf,
    size: u64,
    sent: Arc<AtomicU64>,
}

impl UploadFile {
    /// Describes the file at `path`, which has `size` bytes, without opening it.
    pub(super) fn new(path: PathBuf, size: u64) -> Self {
        let sent = Arc::default();
        Self { path, size, sent }
    }

    async fn body(&self) -> Result<Body, RequestFault> {
        let file = tokio::fs::File::open(&self.path).await;
        let file = file.map_err(|error| RequestFault::Content(CauseText::innermost(&error)))?;
        let sent = Arc::clone(&self.sent);
        let pieces = try_unfold((file, sent), |(mut file, sent)| async move {
            let mut piece = BytesMut::with_capacity(PIECE);
            let count = file.read_buf(&mut piece).await?;
            sent.fetch_add(count as u64, Ordering::Relaxed);
            let next = (count > 0).then(|| (piece.freeze(), (file, sent)));
            Ok::<_, std::io::Error>(next)
        });
        Ok(Body::wrap_stream(pieces))
    }
}

impl RequestMethod {
    pub(super) const fn name(&self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Head => Method::HEAD,
            Self::Post => Method::POST,
            Self::Put(_) => Method::PUT,
        }
    }

    pub(super) const fn sends_file(&self) -> bool {
        matches!(self, Self::Put(RequestContent::File(_)))
    }

    /// Returns a function that returns how many bytes of a file have been sent, or `None` if the method sends no file.
    pub(super) fn progress(&self) -> impl Fn() -> Option<u64> + Send + use<> {
        let sent = match self {
            Self::Put(RequestContent::File(file)) => Some(Arc::clone(&file.sent)),
            _ => None,
        };
        move || sent.as_ref().map(|sent| sent.load(Ordering::Relaxed))
    }

    /// Returns the body, and its size if the HTTP client cannot determine it. `None` if the method has no body.
    pub(super) async fn body(&self) -> Result<Option<(Body, Option<u64>)>, RequestFault> {
        Ok(match self {
            Self::Get | Self::Head => None,
            Self::Post => Some((Body::from(Bytes::new()), Some(0))),
            Self::Put(RequestContent::Bytes(bytes)) => Some((Body::from(bytes.clone()), None)),
            Self::Put(RequestContent::File(file)) => Some((file.body().await?, Some(file.size))),
        })
    }
}
