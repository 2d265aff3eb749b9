//! Tests over real sockets: bodies, compression, limits, names that resolve to refused addresses, connections.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{clock, page};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, Response, StatusCode};
use axum::routing::get;
use bytes::Bytes;
use futures::StreamExt;
use storefront::address::Refusal;
use storefront::{Accept, BodyLimit, Lookup, Page, Store, StoreError, Storefront, StorefrontConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

pub(crate) fn config() -> StorefrontConfig {
    StorefrontConfig {
        retries_max: 0,
        request_timeout_ms: 600_000,
        interactive_timeout_ms: 600_000,
        ..StorefrontConfig::loopback()
    }
}

pub(crate) fn store(config: StorefrontConfig, address: SocketAddr) -> Store {
    let url = format!("http://brand-0001.localhost:{}", address.port());
    Storefront::new(config, clock())
        .unwrap()
        .store(&url.parse().unwrap())
        .unwrap()
}

fn page_of(text: &'static str) -> Vec<u8> {
    format!("{{\"products\":[{}]}}", vec![text; 20_000].join(",")).into_bytes()
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn brotli(plain: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    brotli::CompressorWriter::new(&mut encoded, 4096, 5, 22)
        .write_all(plain)
        .unwrap();
    encoded
}

/// About ten kilobytes decompress to a quarter of a gigabyte, which the test never has in memory.
fn bomb(encoding: &str) -> Vec<u8> {
    let zeros = vec![b' '; 1 << 20];
    if encoding == "gzip" {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        (0..64).for_each(|_| encoder.write_all(&zeros).unwrap());
        encoder.finish().unwrap()
    } else {
        let mut encoded = Vec::new();
        let mut encoder = brotli::CompressorWriter::new(&mut encoded, 1 << 16, 3, 22);
        (0..64).for_each(|_| encoder.write_all(&zeros).unwrap());
        drop(encoder);
        encoded
    }
}

fn encoded(encoding: &str, body: Vec<u8>) -> Response<Body> {
    Response::builder()
        .header("content-encoding", encoding)
        .body(Body::from(body))
        .unwrap()
}

async fn kind(Path(kind): Path<String>) -> Response<Body> {
    match kind.as_str() {
        "plain" => Response::builder()
            .header("etag", "W/\"1\"")
            .header("content-type", "application/json")
            .body(Body::from(page_of("{}")))
            .unwrap(),
        "chunked" => {
            let chunks: Vec<Result<Bytes, std::io::Error>> = page_of("{}")
                .chunks(1000)
                .map(|part| Ok(Bytes::copy_from_slice(part)))
                .collect();
            Response::new(Body::from_stream(futures::stream::iter(chunks)))
        }
        "gzip" => encoded("gzip", gzip(&page_of("{}"))),
        "gzip-noise" => {
            let noise: Vec<u8> = (0..40_000_u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
                .collect();
            encoded("gzip", gzip(&noise))
        }
        "gzip-members" => {
            let page = page_of("{}");
            encoded("gzip", [gzip(&page[..500]), gzip(&page[500..])].concat())
        }
        "br" => encoded("br", brotli(&page_of("{}"))),
        "gzip-cut" => encoded("gzip", gzip(&page_of("{}"))[..60].to_vec()),
        "br-cut" => {
            let whole = brotli(&page_of("{}"));
            encoded("br", whole[..whole.len() - 3].to_vec())
        }
        "gzip-wrong" => encoded("gzip", page_of("{}")),
        "br-wrong" => encoded("br", vec![0xff; 5000]),
        "gzip-checksum" => {
            let mut wrong = gzip(&page_of("{}"));
            let at = wrong.len() - 6;
            wrong[at] ^= 0xff;
            encoded("gzip", wrong)
        }
        "gzip-bomb" => encoded("gzip", bomb("gzip")),
        "br-bomb" => encoded("br", bomb("br")),
        "drip" => {
            let drip = futures::stream::repeat(()).then(|()| async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok::<_, std::io::Error>(Bytes::from_static(b"{"))
            });
            Response::new(Body::from_stream(drip))
        }
        "headers" => {
            let mut headers = HeaderMap::new();
            (0..300).for_each(|n| {
                headers.insert(format!("x-{n}").parse::<HeaderName>().unwrap(), "1".parse().unwrap());
            });
            let mut answer = Response::new(Body::from("{}"));
            *answer.headers_mut() = headers;
            answer
        }
        _ => Response::builder()
            .status(StatusCode::NOT_FOUND)
            .body(Body::empty())
            .unwrap(),
    }
}

pub(crate) async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

async fn fetch(config: StorefrontConfig, path: &str) -> Result<Page, StoreError> {
    let address = serve(Router::new().route("/{kind}", get(kind))).await;
    store(config, address).get(path, Accept::Json).await.map(page)
}

/// Starts a server that sends these bytes to every client, then closes the connection. Requests for robots.txt get a
/// 404.
async fn raw(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = vec![0; 4096];
            let read = socket.read(&mut request).await.unwrap_or(0);
            let is_robots = request[..read].starts_with(b"GET /robots.txt");
            let reply: &[u8] = if is_robots {
                b"HTTP/1.1 404 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            } else {
                answer
            };
            socket.write_all(reply).await.ok();
            socket.shutdown().await.ok();
        }
    });
    address
}

#[tokio::test]
async fn bodies_arrive_whole_however_they_are_sent() {
    for path in ["/plain", "/chunked", "/gzip", "/gzip-members", "/br"] {
        let fetched = fetch(config(), path).await.unwrap();
        assert!(fetched.bytes == page_of("{}"), "{path}");
    }
    let fetched = fetch(config(), "/plain").await.unwrap();
    assert_eq!(
        (fetched.etag.as_deref(), fetched.content_type.as_deref()),
        (Some("W/\"1\""), Some("application/json"))
    );
}

#[tokio::test]
async fn broken_encodings_are_errors() {
    for path in ["/gzip-wrong", "/br-wrong"] {
        assert!(
            matches!(fetch(config(), path).await, Err(StoreError::Encoding)),
            "{path}"
        );
    }
    for path in ["/gzip-cut", "/br-cut", "/gzip-checksum"] {
        let error = fetch(config(), path).await.unwrap_err();
        assert!(
            matches!(error, StoreError::Truncated | StoreError::Encoding),
            "{path} {error:?}"
        );
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn bombs_are_cut_at_the_decoded_limit() {
    for path in ["/gzip-bomb", "/br-bomb"] {
        let config = StorefrontConfig {
            decoded_bytes_max: 1 << 20,
            ..config()
        };
        let error = fetch(config, path).await.unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::TooLarge {
                    limit: BodyLimit::Decoded,
                    bytes_max: 1_048_576
                }
            ),
            "{path} {error:?}"
        );
    }
}

#[tokio::test]
async fn bodies_beyond_the_limit_on_the_wire_are_refused() {
    for path in ["/plain", "/chunked"] {
        let config = StorefrontConfig {
            body_bytes_max: 10_000,
            ..config()
        };
        let error = fetch(config, path).await.unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::TooLarge {
                    limit: BodyLimit::Wire,
                    bytes_max: 10_000
                }
            ),
            "{path} {error:?}"
        );
        let config = StorefrontConfig {
            decoded_bytes_max: 10_000,
            ..self::config()
        };
        let error = fetch(config, path).await.unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::TooLarge {
                    limit: BodyLimit::Decoded,
                    ..
                }
            ),
            "{path} {error:?}"
        );
    }
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read_and_one_byte_more_is_not() {
    let exact = u64::try_from(page_of("{}").len()).unwrap();
    let config = StorefrontConfig {
        body_bytes_max: exact,
        decoded_bytes_max: exact,
        ..config()
    };
    for path in ["/plain", "/chunked", "/gzip", "/br"] {
        fetch(config.clone(), path).await.unwrap();
    }
    for path in ["/plain", "/chunked"] {
        let config = StorefrontConfig {
            body_bytes_max: exact - 1,
            ..self::config()
        };
        assert!(
            matches!(
                fetch(config, path).await,
                Err(StoreError::TooLarge {
                    limit: BodyLimit::Wire,
                    ..
                })
            ),
            "{path}"
        );
    }
    for path in ["/plain", "/chunked", "/gzip", "/br"] {
        let config = StorefrontConfig {
            decoded_bytes_max: exact - 1,
            ..self::config()
        };
        assert!(
            matches!(
                fetch(config, path).await,
                Err(StoreError::TooLarge {
                    limit: BodyLimit::Decoded,
                    ..
                })
            ),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_slow_drip_is_cut() {
    let config = StorefrontConfig {
        request_timeout_ms: 2_000,
        ..config()
    };
    assert!(matches!(fetch(config, "/drip").await, Err(StoreError::Timeout { .. })));
}

#[tokio::test]
async fn too_many_header_fields_are_refused() {
    let error = fetch(config(), "/headers").await.unwrap_err();
    assert!(matches!(error, StoreError::Exchange { .. }), "{error:?}");
}

#[tokio::test]
async fn a_body_that_ends_early_is_an_error_not_a_page() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"products\":[]}"[..],
        &b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"pro\r\n"[..],
        &b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{\"pro"[..],
    ] {
        let error = store(config(), raw(answer).await).meta().await.unwrap_err();
        assert!(matches!(error, StoreError::Truncated), "{error:?}");
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn what_is_no_http_is_an_error() {
    for answer in [
        &b"SSH-2.0-OpenSSH_9.9\r\n"[..],
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}",
        b"HTTP/1.1 abc\r\n\r\n",
    ] {
        let error = store(config(), raw(answer).await).meta().await.unwrap_err();
        assert!(matches!(error, StoreError::Exchange { .. }), "{error:?}");
        assert!(!error.to_string().contains("http://"));
    }
}

#[tokio::test]
async fn nobody_listening_is_a_connect_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = store(config(), address).meta().await.unwrap_err();
    assert!(matches!(error, StoreError::Connect { .. }), "{error:?}");
}

/// Resolver that returns the same addresses for every name, and counts the lookups.
#[derive(Debug)]
struct RebindingResolver(Vec<IpAddr>, AtomicUsize);

#[async_trait]
impl Lookup for RebindingResolver {
    async fn lookup(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn a_name_that_resolves_to_a_private_address_is_refused_while_connecting() {
    for ip in [
        "127.0.0.1",
        "10.0.0.7",
        "169.254.169.254",
        "::1",
        "fd00:ec2::254",
        "::ffff:192.168.0.1",
        "0.0.0.0",
    ] {
        let lookup = Arc::new(RebindingResolver(vec![ip.parse().unwrap()], AtomicUsize::new(0)));
        let front = Storefront::with_lookup(config(), clock(), Arc::clone(&lookup) as Arc<dyn Lookup>).unwrap();
        let error = front
            .store(&"http://rebind.example/".parse().unwrap())
            .unwrap()
            .meta()
            .await
            .unwrap_err();
        let is_refused = matches!(
            error,
            StoreError::AddressRefused {
                reason: Refusal::NotPublic(_) | Refusal::Loopback,
                ..
            }
        );
        assert!(is_refused, "{ip}: {error:?}");
        assert_eq!(lookup.1.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn localhost_is_never_asked_of_dns() {
    let address = serve(Router::new().route("/{kind}", get(|| async { "{}" }))).await;
    let lookup = Arc::new(RebindingResolver(vec![], AtomicUsize::new(0)));
    let front = Storefront::with_lookup(config(), clock(), Arc::clone(&lookup) as Arc<dyn Lookup>).unwrap();
    for host in ["localhost", "brand-0001.localhost", "127.0.0.1", "LOCALHOST."] {
        let url = format!("http://{host}:{}/", address.port()).parse().unwrap();
        front.store(&url).unwrap().meta().await.unwrap();
    }
    assert_eq!(lookup.1.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn pages_of_one_host_share_a_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            seen.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                while let Ok(1..) = socket.read(&mut request).await {
                    let is_missing = request.starts_with(b"GET /robots.txt") || request.starts_with(b"GET /products/");
                    let reply = if is_missing {
                        "HTTP/1.1 404 No\r\ncontent-length: 4\r\n\r\ngone"
                    } else {
                        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
                    };
                    socket.write_all(reply.as_bytes()).await.ok();
                }
            });
        }
    });
    let store = store(config(), address);
    for n in 1..=5 {
        store.products_page(n, 250, None).await.unwrap();
        store.product_html("gone").await.unwrap_err();
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_emulated_store_redirects_within_this_machine() {
    let router = Router::new().route(
        "/products.json",
        get(|headers: HeaderMap| async move {
            let host = headers["host"].to_str().unwrap().to_owned();
            match host.strip_prefix("old.") {
                Some(new) => Response::builder()
                    .status(301)
                    .header("location", format!("http://{new}/products.json?limit=250&page=1"))
                    .body(Body::empty())
                    .unwrap(),
                None => Response::new(Body::from("{\"products\":[]}")),
            }
        }),
    );
    let port = serve(router).await.port();
    let front = Storefront::new(config(), clock()).unwrap();
    let store = front
        .store(&format!("http://old.brand.localhost:{port}").parse().unwrap())
        .unwrap();
    let fetched = page(store.products_page(1, 250, None).await.unwrap());
    assert_eq!(
        fetched.url.as_str(),
        format!("http://brand.localhost:{port}/products.json?limit=250&page=1")
    );
}
