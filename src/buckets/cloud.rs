//! The kinds of object stores.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cloud {
    S3,
    GoogleCloud,
    Azure,
}

impl Cloud {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::S3, Self::GoogleCloud, Self::Azure];

    /// Returns the scheme of addresses of this kind, such as `s3` in `s3://BUCKET`.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::GoogleCloud => "gs",
            Self::Azure => "az",
        }
    }
}
