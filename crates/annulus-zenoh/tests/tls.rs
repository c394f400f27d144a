//! Encryption, certificates and access control, with the files that README.md shows.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use annulus::shm::{Invitation, Shared, service, watch};
use annulus_zenoh::{Bridge, Config, Direction};
use common::{Machine, PATIENCE, is_open, route, tick, until};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use zenoh::Wait;
use zenoh::qos::CongestionControl;

/// The block of README.md that begins so.
fn block(begin: &str) -> &'static str {
    let readme = include_str!("../README.md");
    let at = readme.find(begin).unwrap_or_else(|| panic!("README.md has no {begin}"));
    let block = &readme[at..];
    let (_, block) = block.split_once('\n').unwrap();
    block.split_once("```").unwrap().0
}

/// An authority, and a folder with its certificates.
struct Authority {
    path: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// It certifies these hosts.
    fn of(hosts: &[&str]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("annulus-tls-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "rings");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        std::fs::write(path.join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        let authority = Self { path, issuer: Issuer::new(params, key) };
        for host in hosts {
            authority.certify(host);
        }
        authority
    }

    /// (Here all are at this address.)
    fn certify(&self, host: &str) {
        let mut params = CertificateParams::new(["127.0.0.1".to_string()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, host);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.path.join(format!("{host}.pem")), certificate.pem()).unwrap();
        std::fs::write(self.path.join(format!("{host}.key")), key.serialize_pem()).unwrap();
    }

    /// The file of README.md, for this host.
    fn file(&self, host: &str) -> PathBuf {
        let file =
            block("```json5\n{\n  transport").replace("/etc/annulus/a.", &format!("/etc/annulus/{host}."));
        self.write(host, &file)
    }

    /// That, with the access control of README.md.
    fn guarded_file(&self, host: &str) -> PathBuf {
        let file = std::fs::read_to_string(self.file(host)).unwrap();
        let (transport, _) = file.rsplit_once('}').unwrap();
        self.write(host, &format!("{transport}{}}}", block("```json5\n  access_control")))
    }

    fn write(&self, name: &str, file: &str) -> PathBuf {
        let path = self.path.join(format!("{name}.json5"));
        std::fs::write(&path, file.replace("/etc/annulus", self.path.to_str().unwrap())).unwrap();
        path
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.path);
    }
}

/// A link that hears all that goes over it.
struct Tap {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<u8>>>,
    connections: Arc<AtomicU32>,
}

impl Tap {
    fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tap = Self {
            address: listener.local_addr().unwrap(),
            heard: Arc::default(),
            connections: Arc::default(),
        };
        let (heard, connections) = (Arc::clone(&tap.heard), Arc::clone(&tap.connections));
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Ordering::SeqCst);
                let Ok(far) = TcpStream::connect(target) else { continue };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    forward(from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&heard));
                }
            }
        });
        tap
    }

    fn connections(&self) -> u32 {
        self.connections.load(Ordering::SeqCst)
    }

    fn has_heard(&self, what: &[u8]) -> bool {
        self.heard.lock().unwrap().windows(what.len()).any(|bytes| bytes == what)
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, heard: Arc<Mutex<Vec<u8>>>) {
    thread::spawn(move || {
        let mut bytes = [0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            heard.lock().unwrap().extend(&bytes[..count]);
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        _ = from.shutdown(Shutdown::Both);
        _ = to.shutdown(Shutdown::Both);
    });
}

fn listening(config: Config) -> (Bridge, SocketAddr) {
    let bridge = Bridge::open(config.listen("tls/127.0.0.1:0")).unwrap();
    let at = bridge.listens_at()[0].strip_prefix("tls/").unwrap().parse().unwrap();
    (bridge, at)
}

/// It connects through this tap, and was refused at least once: a client connects again after that only.
fn is_refused(bridge: &Bridge, tap: &Tap) {
    until("it tries again", || tap.connections() >= 2);
    assert_eq!(bridge.connections(), 0);
    assert_eq!(bridge.routes(), []);
}

#[test]
fn mutual_tls_carries_a_ring_and_refuses_others() {
    let (ours, other) = (Authority::of(&["a", "b"]), Authority::of(&["c"]));
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (near, at) = listening(a.config().carry("*").zenoh_file(ours.file("a")));
    let tap = Tap::to(at);
    let far = a_client(&b, &tap, &ours.file("b"));
    let (mut publisher, _name) = a.publish("quotes", 64);
    publisher.publish(tick(0));
    let (mut subscriber, _ring) = b.subscribe("quotes");
    assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(0)));

    // Each has a ring to send, and wants all.
    let c = Machine::new("c");
    let (mut forger, _forged) = c.publish("forged", 64);
    forger.publish(tick(0));
    // No certificate; only that of the authority, to know `a` by.
    let transport = r#"{ transport: { link: { tls: { root_ca_certificate: "/etc/annulus/ca.pem" } } } }"#;
    let without = ours.write("without", transport);
    // One of another authority.
    std::fs::copy(ours.path.join("ca.pem"), other.path.join("ca.pem")).unwrap();
    for file in [without, other.file("c")] {
        let tap = Tap::to(at);
        is_refused(&a_client(&c, &tap, &file), &tap);
    }
    // No TLS.
    let plain = Tap::to(at);
    let bridge = c.config().carry("*").connect(&format!("tcp/{}", plain.address));
    is_refused(&Bridge::open(bridge).unwrap(), &plain);

    // The ring goes on, and nothing came of theirs before this.
    publisher.publish(tick(1));
    assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(1)));
    let names = |bridge: &Bridge| bridge.routes().into_iter().map(|route| route.name).collect::<Vec<_>>();
    assert_eq!((names(&near), names(&far)), (vec!["quotes".into()], vec!["quotes".into()]));
    assert!(!tap.has_heard(b"quotes") && !tap.has_heard(bytemuck::cast_slice(&tick(1))));
}

/// A bridge for all rings, over this tap.
fn a_client(machine: &Machine, tap: &Tap, file: &Path) -> Bridge {
    let config =
        machine.config().carry("*").answer_timeout(PATIENCE).connect(&format!("tls/{}", tap.address));
    Bridge::open(config.zenoh_file(file)).unwrap()
}

#[test]
fn machine_that_another_authority_certified_is_not_believed() {
    let (ours, other) = (Authority::of(&["b"]), Authority::of(&["a"]));
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (mut forger, _forged) = a.publish("quotes", 64);
    forger.publish(tick(0));
    let (_near, at) = listening(a.config().carry("*").zenoh_file(other.file("a")));
    let tap = Tap::to(at);
    is_refused(&a_client(&b, &tap, &ours.file("b")), &tap);
}

#[test]
fn link_without_tls_is_readable() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_near, at) = a.listening();
    let tap = Tap::to(at);
    let _far = b.connected(tap.address);
    let (mut publisher, _name) = a.publish("quotes", 64);
    publisher.publish(tick(0));
    let (mut subscriber, _ring) = b.subscribe("quotes");
    assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(0)));
    assert!(tap.has_heard(b"quotes") && tap.has_heard(bytemuck::cast_slice(&tick(0))));
}

/// A program of that host which speaks to `a` as it likes.
fn session(ours: &Authority, host: &str, at: SocketAddr) -> zenoh::Session {
    let mut config = zenoh::Config::from_file(ours.file(host)).unwrap();
    config.insert_json5("mode", r#""client""#).unwrap();
    config.insert_json5("connect/endpoints", &format!("[\"tls/{at}\"]")).unwrap();
    zenoh::open(config).wait().unwrap()
}

#[test]
fn access_control_shows_a_reader_public_rings_only() {
    let ours = Authority::of(&["a", "b", "c"]);
    let (a, b, c) = (Machine::new("a"), Machine::new("b"), Machine::new("c"));
    let (near, at) = listening(a.config().carry("*").reliable(true).zenoh_file(ours.guarded_file("a")));
    let reader = a_client(&b, &Tap::to(at), &ours.file("b"));
    let trusted = a_client(&c, &Tap::to(at), &ours.file("c"));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let session = session(&ours, "b", at);
    for key in ["annulus/a/secret", "annulus/a/public", "annulus/**"] {
        let heard = Arc::clone(&heard);
        let told = move |sample: zenoh::sample::Sample| {
            heard
                .lock()
                .unwrap()
                .push((sample.key_expr().to_string(), sample.payload().to_bytes().into_owned()));
        };
        session.declare_subscriber(key).callback(told).background().wait().unwrap();
    }
    let (mut publisher, _secret) = a.publish("secret", 64);
    let (mut secret, _ring) = c.subscribe("secret");
    publisher.publish(tick(0));
    assert_eq!(secret.recv_timeout(PATIENCE), Ok(tick(0)));

    // After the secret one: it comes to both.
    let (mut shown, _public) = a.publish("public", 64);
    let mut subscribers = [&b, &c].map(|machine| machine.subscribe("public"));
    shown.publish(tick(7));
    for (subscriber, _ring) in &mut subscribers {
        assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(7)));
    }
    until("both say that it came", || {
        let out = route(&near, Direction::Out, "public").unwrap();
        (out.readers, out.kept, out.messages) == (2, 0, 1)
    });
    assert_eq!(route(&reader, Direction::In, "secret"), None);
    assert!(is_open(&trusted, Direction::In, "secret"));
    until("a subscriber of the reader's hears what is public", || {
        let is_it = |(key, payload): &(String, Vec<u8>)| key == "annulus/a/public" && !payload.is_empty();
        heard.lock().unwrap().iter().any(is_it)
    });
    assert!(heard.lock().unwrap().iter().all(|(key, _)| key == "annulus/a/public"), "{heard:?}");

    // What the reader puts comes to nobody: the answer comes after it.
    let put = |session: &zenoh::Session| {
        for key in ["annulus/a/secret", "annulus/a/public", "annulus/b/forged"] {
            session.put(key, "forged").congestion_control(CongestionControl::Block).wait().unwrap();
        }
        session.get("annulus/a/public/@ring").wait().unwrap().recv().unwrap().result().unwrap();
    };
    put(&session);
    publisher.publish(tick(1));
    assert_eq!(secret.recv_timeout(PATIENCE), Ok(tick(1)));
    shown.publish(tick(8));
    let told =
        |name| route(&trusted, Direction::In, name).map_or((0, 0), |ring| (ring.messages, ring.corrupt));
    until("what is published came", || told("secret").0 >= 2 && told("public").0 >= 2);
    assert_eq!((told("secret"), told("public")), ((2, 0), (2, 0)));

    // What a trusted machine puts does come.
    put(&self::session(&ours, "c", at));
    until("they came", || (told("secret"), told("public")) == ((2, 1), (2, 1)));
}

/// Newest values and services, too: their keys are others.
#[test]
fn access_control_shows_a_reader_public_values_and_services_only() {
    let ours = Authority::of(&["a", "b", "c"]);
    let (a, b, c) = (Machine::new("a"), Machine::new("b"), Machine::new("c"));
    let (_near, at) = listening(a.config().carry("*").zenoh_file(ours.guarded_file("a")));
    let reader = a_client(&b, &Tap::to(at), &ours.file("b"));
    let _trusted = a_client(&c, &Tap::to(at), &ours.file("c"));
    let table = |name: &str| {
        let Shared { handle: mut sender, invitation, .. } =
            watch::table::<u64>(annulus::Settings::new(1)).unwrap();
        sender.send(7).unwrap();
        (sender, invitation.publish(&a.directory(), name).unwrap())
    };
    let find = |machine: &Machine, name: &str| {
        Invitation::wait_for(&machine.directory(), name, Some(PATIENCE)).unwrap()
    };
    let _secret = table("secret");
    let values = find(&c, "secret").accept_watch::<u64>().unwrap();
    until("the trusted one has it", || values.get(0) == Ok(7));

    // After the secret one: they come to both.
    let (mut sender, _name) = table("public-prices");
    let made = service::Builder::new(annulus::Settings::new(1)).build::<u32, u64>().unwrap();
    let (mut server, _service) =
        (made.handle, made.invitation.publish(&a.directory(), "public-service").unwrap());
    for machine in [&b, &c] {
        let values = find(machine, "public-prices").accept_watch::<u64>().unwrap();
        until("a late joiner has it", || values.get(0).is_ok());
        let next = values.get(0).unwrap() + 1;
        sender.send(next).unwrap();
        until("a change comes", || values.get(0) == Ok(next));
        let mut client = service::client::<u32, u64>(&find(machine, "public-service")).unwrap().0;
        let mut pending = client.ask(1).unwrap();
        server.recv_timeout(PATIENCE).unwrap().answer(2).unwrap();
        assert_eq!(pending.recv_timeout(PATIENCE), Ok(2));
    }
    assert_eq!(route(&reader, Direction::In, "secret"), None);
}

#[test]
fn certificates_of_openssl_are_taken() {
    if !Command::new("openssl").arg("version").output().is_ok_and(|output| output.status.success()) {
        println!("not tested: there is no openssl");
        return;
    }
    let ours = Authority::of(&[]);
    // (Here all are at one address.)
    let commands = block("```sh\nopenssl").replace("DNS:$host", "IP:127.0.0.1");
    assert!(commands.contains("IP:127.0.0.1"), "{commands}");
    let output = Command::new("sh").args(["-e", "-c", &commands]).current_dir(&ours.path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_near, at) = listening(a.config().carry("*").zenoh_file(ours.guarded_file("a")));
    let _far = a_client(&b, &Tap::to(at), &ours.file("b"));
    let (mut publisher, _name) = a.publish("public", 64);
    publisher.publish(tick(0));
    let (mut subscriber, _ring) = b.subscribe("public");
    assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(0)));
}

#[test]
fn certificate_that_is_not_there_is_said() {
    let (ours, a) = (Authority::of(&[]), Machine::new("a"));
    let config = a.config().zenoh_file(ours.file("a")).connect("tls/127.0.0.1:7447");
    let error = Bridge::open(config).err().unwrap().to_string();
    assert!(error.contains("a.pem: No such file"), "{error}");
}
