//! One file a verb.

pub mod doctor;
pub mod init;
pub mod inject;
pub mod run;
pub mod schema;
