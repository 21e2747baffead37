//! Who has packages: registries and how they are asked.
