use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Instant;

fn pin(core: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    rustix::thread::sched_setaffinity(None, &set).unwrap();
}
fn ns(begun: Instant, n: u64) -> f64 { begun.elapsed().as_nanos() as f64 / n as f64 }
const CAP: usize = 4096;
#[inline(always)]
fn mix(i: u64) -> u64 { i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x55 }

macro_rules! contender {
    ($name:ident) => {
        mod $name {
            use super::*;
            use ::$name as lib;
            #[inline(never)]
            pub fn publish_alone(n: u64) -> f64 {
                let (mut p, s) = lib::channel::<u64>(CAP);
                let mut sub = s.subscribe();
                for i in 0..CAP as u64 { p.publish(i); }
                let t = Instant::now();
                for i in 0..n { p.publish(i); }
                let r = ns(t, n);
                black_box(sub.try_recv().ok());
                r
            }
            #[inline(never)]
            pub fn pub_recv(n: u64) -> f64 {
                let (mut p, s) = lib::channel::<u64>(CAP);
                let mut sub = s.subscribe();
                for i in 0..CAP as u64 { p.publish(i); sub.try_recv().unwrap(); }
                let t = Instant::now();
                for i in 0..n { p.publish(i); match sub.try_recv() { Ok(v) => assert!(v == i), Err(_) => panic!() } }
                ns(t, n)
            }
            #[inline(never)]
            pub fn empty_poll(n: u64) -> f64 {
                let (mut p, s) = lib::channel::<u64>(CAP);
                let mut sub = s.subscribe();
                p.publish(1); sub.try_recv().unwrap();
                let t = Instant::now();
                for _ in 0..n { let r = black_box(sub.try_recv()); if r.is_ok() { panic!() } }
                ns(t, n)
            }
            #[inline(never)]
            pub fn live(n: u64) -> f64 {
                let (mut p, s) = lib::channel::<u64>(CAP);
                let mut sub = s.subscribe();
                let stop = Arc::new(AtomicBool::new(false));
                let ready = Arc::new(Barrier::new(2));
                let h = std::thread::spawn({ let (stop, ready) = (stop.clone(), ready.clone()); move || {
                    pin(1);
                    ready.wait();
                    let mut got = 0u64;
                    loop {
                        match sub.try_recv() {
                            Ok(v) => { got += 1; assert!(v == mix(sub.cursor() - 1)); }
                            Err(_) => if stop.load(Ordering::Relaxed) { break }
                        }
                    }
                    got
                }});
                ready.wait();
                for i in 0..20_000 { p.publish(mix(i)); }
                let t = Instant::now();
                for i in 20_000..20_000 + n { p.publish(mix(i)); }
                let r = ns(t, n);
                stop.store(true, Ordering::Relaxed);
                let got = h.join().unwrap();
                assert!(got > 0);
                GOT.store(got * 1000 / (n + 20_000), Ordering::Relaxed);
                r
            }
            #[inline(never)]
            pub fn round_trip(n: u64) -> f64 {
                let (mut p1, s1) = lib::channel::<u64>(CAP);
                let (mut p2, s2) = lib::channel::<u64>(CAP);
                let mut r1 = s1.subscribe();
                let mut r2 = s2.subscribe();
                let total = n + 1000;
                let h = std::thread::spawn(move || {
                    pin(1);
                    for _ in 0..total {
                        let v = loop { if let Ok(v) = r1.try_recv() { break v } };
                        p2.publish(v + 1);
                    }
                });
                let mut t = Instant::now();
                for i in 0..total {
                    if i == 1000 { t = Instant::now(); }
                    p1.publish(i);
                    let v = loop { if let Ok(v) = r2.try_recv() { break v } };
                    assert!(v == i + 1);
                }
                let r = ns(t, n);
                h.join().unwrap();
                r
            }
            #[inline(never)]
            pub fn big(n: u64) -> f64 {
                let (mut p, s) = lib::channel::<[u8; 4096]>(CAP / 16);
                let mut sub = s.subscribe();
                let mut m = [7u8; 4096];
                for i in 0..CAP as u64 { m[0] = i as u8; p.publish(m); sub.try_recv().unwrap(); }
                let t = Instant::now();
                for i in 0..n { m[(i & 4095) as usize] = i as u8; p.publish(m); match sub.try_recv() { Ok(v) => { let v = black_box(v); assert!(v[(i & 4095) as usize] == i as u8) }, Err(_) => panic!() } }
                ns(t, n)
            }
        }
    };
}
static GOT: AtomicU64 = AtomicU64::new(0);
contender!(annulus);
contender!(photon_ring);

#[repr(align(128))]
struct Line(AtomicU64);
fn raw_ping_pong(n: u64) -> f64 {
    let a = Arc::new((Line(AtomicU64::new(0)), Line(AtomicU64::new(0))));
    let b = a.clone();
    let total = n + 1000;
    let h = std::thread::spawn(move || {
        pin(1);
        for i in 1..=total { while b.0.0.load(Ordering::Acquire) != i {} b.1.0.store(i, Ordering::Release); }
    });
    let mut t = Instant::now();
    for i in 1..=total {
        if i == 1001 { t = Instant::now(); }
        a.0.0.store(i, Ordering::Release);
        while a.1.0.load(Ordering::Acquire) != i {}
    }
    let r = ns(t, n);
    h.join().unwrap();
    r
}
fn median(v: &mut Vec<f64>) -> (f64, f64, f64) { v.sort_by(f64::total_cmp); let n = v.len(); (v[n/4], v[n/2], v[3*n/4]) }

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(11, |s| s.parse().unwrap());
    let only = std::env::args().nth(2).unwrap_or_default();
    pin(0);
    let rows: [(&str, fn(u64) -> f64, fn(u64) -> f64, u64); 6] = [
        ("publish alone", annulus::publish_alone, photon_ring::publish_alone, 4_000_000),
        ("publish+recv", annulus::pub_recv, photon_ring::pub_recv, 4_000_000),
        ("empty poll", annulus::empty_poll, photon_ring::empty_poll, 8_000_000),
        ("publish, live reader", annulus::live, photon_ring::live, 2_000_000),
        ("round trip", annulus::round_trip, photon_ring::round_trip, 100_000),
        ("4 KiB publish+recv", annulus::big, photon_ring::big, 100_000),
    ];
    for (name, ours, theirs, n) in rows {
        if !name.contains(&only) { continue }
        let (mut a, mut b, mut f, mut ratio, mut rf) = (vec![], vec![], vec![], vec![], vec![]);
        let mut gots = vec![]; let mut tg: Vec<u64> = vec![];
        for round in 0..rounds {
            let f1 = raw_ping_pong(20_000);
            let (x, y);
            if round % 2 == 0 { x = ours(n); gots.push(GOT.load(Ordering::Relaxed)); y = theirs(n); tg.push(GOT.load(Ordering::Relaxed)); } else { y = theirs(n); x = ours(n); gots.push(GOT.load(Ordering::Relaxed)); }
            let f2 = raw_ping_pong(20_000);
            let changed = f1.max(f2) / f1.min(f2) > 1.3;
            if changed { continue }
            a.push(x); b.push(y); f.push(f64::midpoint(f1, f2)); ratio.push(x / y); rf.push(x / f64::midpoint(f1, f2));
        }
        let kept = a.len();
        if kept == 0 { println!("{name}: no stable round"); continue }
        println!("{name:22} ours {:.2?} theirs {:.2?} ratio {:.3?} floor {:.0?} ours/floor {:.3?} kept {kept} got {gots:?} {tg:?}", median(&mut a), median(&mut b), median(&mut ratio), median(&mut f), median(&mut rf));
    }
}
