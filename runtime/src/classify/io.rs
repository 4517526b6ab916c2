//! Which I/O errors a connection gets because of the network or its peer, and not because of what was asked.

use std::io::{Error, ErrorKind};

/// Whether an I/O error is a transient fault of a connection.
///
/// `ConnectionReset` (104 on Linux) is the first of them and the one that lists kept by hand forget.
#[must_use]
pub fn is_transient_io(error: &Error) -> bool {
    let kind = matches!(
        error.kind(),
        ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionRefused
            | ErrorKind::NotConnected
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable
    );
    kind || error.raw_os_error().is_some_and(is_transient_code) || is_name_lookup_again(error)
}

/// Codes that the standard library gives no stable kind of their own.
#[cfg(target_os = "linux")]
fn is_transient_code(code: i32) -> bool {
    // errno(3) on Linux: ENFILE, EMFILE, ENONET, EPROTO, ENOBUFS, EHOSTDOWN. The first two and ENOBUFS run out and come back,
    // the others are what `accept(2)` reports for a connection that died in the queue.
    matches!(code, 23 | 24 | 64 | 71 | 105 | 112)
}

#[cfg(not(target_os = "linux"))]
fn is_transient_code(_: i32) -> bool {
    false
}

/// "Try again" of the name lookup (EAI_AGAIN): the standard library makes it an error without kind or code, so the text is all
/// there is. Both C libraries' wording of that one code, and nothing else.
fn is_name_lookup_again(error: &Error) -> bool {
    error.get_ref().is_some_and(|inner| {
        let text = inner.to_string();
        text.strip_prefix("failed to lookup address information: ")
            .is_some_and(|why| why == "Temporary failure in name resolution" || why == "Try again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_faults_are_transient() {
        for kind in [
            ErrorKind::ConnectionReset,
            ErrorKind::ConnectionAborted,
            ErrorKind::ConnectionRefused,
            ErrorKind::NotConnected,
            ErrorKind::BrokenPipe,
            ErrorKind::UnexpectedEof,
            ErrorKind::TimedOut,
            ErrorKind::Interrupted,
            ErrorKind::HostUnreachable,
            ErrorKind::NetworkUnreachable,
            ErrorKind::NetworkDown,
            ErrorKind::AddrNotAvailable,
        ] {
            assert!(is_transient_io(&Error::from(kind)), "{kind}");
        }
    }

    #[test]
    fn faults_of_what_was_asked_are_not() {
        for kind in [
            ErrorKind::NotFound,
            ErrorKind::PermissionDenied,
            ErrorKind::AlreadyExists,
            ErrorKind::InvalidData,
            ErrorKind::InvalidInput,
            ErrorKind::AddrInUse,
            ErrorKind::Unsupported,
            ErrorKind::StorageFull,
            ErrorKind::Other,
        ] {
            assert!(!is_transient_io(&Error::from(kind)), "{kind}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn codes_of_the_kernel_are_known_as_they_come() {
        assert!(is_transient_io(&Error::from_raw_os_error(104)), "ECONNRESET");
        assert!(is_transient_io(&Error::from_raw_os_error(24)), "EMFILE");
        assert!(!is_transient_io(&Error::from_raw_os_error(13)), "EACCES");
    }

    #[test]
    fn a_name_lookup_that_says_again_is_transient_and_one_that_says_unknown_is_not() {
        let lookup = |why: &str| Error::other(format!("failed to lookup address information: {why}"));
        assert!(is_transient_io(&lookup("Temporary failure in name resolution")));
        assert!(is_transient_io(&lookup("Try again")));
        assert!(!is_transient_io(&lookup("Name or service not known")));
    }
}
