//! A service whose `/health` says what it does not see right now.
//!
//! `/health` answers 200 while every standing watch reads, and 503 with the reason while one does not: as JSON, or as one
//! line of text at `/health/line`. The handler pulls the book and returns; it opens nothing and waits for nothing.
//!
//! Run it with `cargo run -p rideout --example health`, then `curl -i localhost:8080/health/line` a few times.

use std::{io, net::Ipv4Addr, pin::pin, time::Duration};

use axum::{
    Router, extract::State, http::StatusCode, http::header::CONTENT_TYPE, response::IntoResponse,
    routing::get,
};
use futures_util::{Stream, StreamExt, stream};
use rideout::{
    health::{HealthBook, Status},
    reopen::{Opening, ReopenPolicy, reopen_on_transient_fault},
};

/// The routes of the book.
pub fn routes(book: HealthBook) -> Router {
    Router::new().route("/health", get(json)).route("/health/line", get(line)).with_state(book)
}

async fn json(State(book): State<HealthBook>) -> impl IntoResponse {
    let health = book.report();
    (code(health.status()), [(CONTENT_TYPE, "application/json")], health.to_json())
}

async fn line(State(book): State<HealthBook>) -> impl IntoResponse {
    let health = book.report();
    (code(health.status()), format!("{health}\n"))
}

fn code(status: Status) -> StatusCode {
    match status {
        Status::Healthy => StatusCode::OK,
        Status::Degraded => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// A census of live records: a standing watch over the catalogue, kept in the book under its name.
pub async fn census<S>(
    open: impl FnMut(Opening) -> S,
    policy: ReopenPolicy<u64, io::Error>,
    book: &HealthBook,
) -> io::Result<()>
where
    S: Stream<Item = io::Result<u64>>,
{
    let mut counts = pin!(reopen_on_transient_fault(open, policy.observer(book.observer("live-records"))));
    while let Some(count) = counts.next().await {
        count?;
    }
    Ok(())
}

/// A catalogue that is read once a second, and reset after every fifth reading.
fn flaky_catalogue(_: Opening) -> impl Stream<Item = io::Result<u64>> {
    stream::unfold(1, async |count| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let item = if count == 6 { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(count) };
        Some((item, count + 1))
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let book = HealthBook::new();
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 8080)).await?;
    let watched = census(flaky_catalogue, ReopenPolicy::standing_watch(), &book);
    // The census may end; the service goes on, and its health says so.
    let (served, _) = tokio::join!(axum::serve(listener, routes(book.clone())).into_future(), watched);
    served
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Request};
    use futures_util::FutureExt;
    use rideout::{classify::Infrastructure, schedule::ManualSchedule, test::ScriptedSource};
    use tower::ServiceExt;

    use super::*;

    async fn ask(book: &HealthBook, path: &str) -> (u16, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = routes(book.clone()).oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn health_is_200_while_the_census_reads_and_503_with_the_reason_while_it_does_not() {
        let (book, clock) = (HealthBook::new(), ManualSchedule::new());
        let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
        let source = ScriptedSource::new().opens([Ok(1), Err(reset())]);
        let policy = ReopenPolicy::new(Infrastructure, clock.clone());
        let opened = source.clone();
        let mut census = Box::pin(census(move |_| opened.open().unwrap(), policy, &book));
        assert!(census.as_mut().now_or_never().is_none());

        let (status, line) = ask(&book, "/health/line").await;
        assert_eq!(status, 503);
        let expected = "degraded: live-records is interrupted (connection reset), re-open 1 after 2s; \
                        what it read before is frozen\n";
        assert_eq!(line, expected);
        let (status, json) = ask(&book, "/health").await;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(status, 503);
        assert_eq!(
            (&json["status"], &json["watches"][0]["fault"]),
            (&"degraded".into(), &"connection reset".into())
        );

        assert!(clock.fire());
        assert!(census.as_mut().now_or_never().is_none());
        assert_eq!(ask(&book, "/health").await.0, 503, "open, and not yet reading");
        assert!(source.emit(2));
        assert!(census.as_mut().now_or_never().is_none());
        assert_eq!(ask(&book, "/health/line").await, (200, "healthy: 1 watch\n".to_owned()));

        assert!(source.fault(io::Error::other("a defect")));
        assert!(census.as_mut().now_or_never().unwrap().is_err());
        drop(census);
        let (status, line) = ask(&book, "/health/line").await;
        assert_eq!(status, 503);
        assert!(line.contains("no longer being watched for until a restart"), "{line}");
    }
}
