//! One file a verb.

pub mod cascade;
pub mod clean;
pub mod compare;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod explore;
pub mod guide;
pub mod init;
pub mod inject;
pub mod predict;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod scan;
pub mod schema;
pub mod trial;
