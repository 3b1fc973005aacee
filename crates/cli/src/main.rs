//! The binary `hypocenter`. See the library beside it.

fn main() -> std::process::ExitCode {
    hypocenter::main()
}
