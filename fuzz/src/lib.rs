//! What the fuzz targets do with their bytes, apart from the fuzzer, so that a test can run an input again.
//!
//! [`walk`] asks the class file reader everything, [`patching`] checks a patched class against its original, and
//! [`files`] reads the files that tool and agent share; [`sparse`] is how a file that is mostly zeros is kept small.
//! [`loading`] opens class paths and [`analysis`] scans them; a [`bundle`] is how several files are one input, and
//! [`place`] where they are put. [`texts`] reads logs.

pub mod analysis;
pub mod bundle;
pub mod files;
pub mod hooks;
pub mod loading;
pub mod output;
pub mod patching;
pub mod place;
pub mod sparse;
pub mod texts;
pub mod walk;
