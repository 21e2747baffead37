//! Lists of objects, as S3 and Google Cloud Storage send them.

use serde::Deserialize;

use super::error::BucketError;
use crate::registry::CauseText;

/// One page of a list of objects.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ObjectList {
    pub objects: Vec<ListedObject>,
    /// The token of the next page.
    pub next_page: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct ListedObject {
    #[serde(rename = "Key")]
    pub key: String,
    #[serde(rename = "Size", default)]
    pub size: u64,
    #[serde(rename = "ETag", default)]
    pub tag: String,
}

#[derive(Deserialize)]
struct ListBucketResult {
    #[serde(rename = "Contents", default)]
    contents: Vec<ListedObject>,
    #[serde(rename = "NextContinuationToken", default)]
    next: Option<String>,
}

impl ObjectList {
    pub fn parse(document: &[u8]) -> Result<Self, BucketError> {
        let invalid =
            || BucketError::Store(CauseText::text("the list of objects is not valid XML"));
        let text = std::str::from_utf8(document).map_err(|_not_text| invalid())?;
        let list: ListBucketResult =
            quick_xml::de::from_str(text).map_err(|_not_a_list| invalid())?;
        Ok(Self {
            objects: list.contents,
            next_page: list.next.filter(|token| !token.is_empty()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_s3_and_google() {
        let object = |key: &str, size, tag: &str| ListedObject {
            key: key.to_owned(),
            size,
            tag: tag.to_owned(),
        };
        let page = r#"<?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><IsTruncated>true</IsTruncated>
            <NextContinuationToken>1/abc=</NextContinuationToken>
            <Contents><Key>a &amp; b/main.tf</Key><ETag>&quot;1&quot;</ETag><Size>3</Size></Contents>
            <Contents><Key>é/</Key><Size>0</Size><StorageClass>STANDARD</StorageClass></Contents>
            </ListBucketResult>"#;
        let expected = ObjectList {
            objects: vec![object("a & b/main.tf", 3, "\"1\""), object("é/", 0, "")],
            next_page: Some("1/abc=".to_owned()),
        };
        assert_eq!(ObjectList::parse(page.as_bytes()).unwrap(), expected);
        let empty =
            b"<ListBucketResult><NextContinuationToken></NextContinuationToken></ListBucketResult>";
        assert_eq!(ObjectList::parse(empty).unwrap(), ObjectList::default());
        for invalid in [
            &b"text"[..],
            b"",
            b"\xff",
            b"<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
            b"<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
            b"<ListBucketResult><Contents>",
        ] {
            assert!(ObjectList::parse(invalid).is_err(), "{invalid:?}");
        }
    }
}
