//! Why a command did not do what it was asked, and its exit code.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use ringonce_engine::model::error::{Fault, FaultCode};

use crate::cli::words::one_line;

/// What a command comes to.
pub(crate) type Done = Result<(), Failure>;

/// Why a command failed.
pub(crate) enum Failure {
    /// Refused or failed, in words: exit code 1.
    Fault(Fault),
    /// What was found is the failure, and it was printed: exit code 1.
    Found,
    /// Nobody reads what is printed any more (`… | head`): no failure of ours.
    Unread,
}

impl Failure {
    /// Says why on stderr, in one line; gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Unread => ExitCode::SUCCESS,
            Self::Found => ExitCode::FAILURE,
            Self::Fault(fault) => {
                tell(&fault);
                ExitCode::FAILURE
            }
        }
    }
}

/// Says what is wrong on stderr, in one line.
pub(crate) fn tell(fault: &Fault) {
    // Where stderr is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "ringonce: {}", one_line(&fault.to_string()));
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Self::Unread;
        }
        Self::Fault(Fault::new(
            FaultCode::Storage,
            "The command broke off",
            error.to_string(),
            "check that its input and output can be used",
        ))
    }
}
