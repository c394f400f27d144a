//! [`Announced`]: tells other bridges of newest values, or of a service, which are described once for all
//! time.

use zenoh::bytes::Encoding;
use zenoh::liveliness::LivelinessToken;
use zenoh::qos::CongestionControl;
use zenoh::query::{Query, Queryable};
use zenoh::{Session, Wait};

use crate::description::Description;
use crate::keys;
use crate::wire::{Ack, Frame};

/// What is told of, until its [`end`](Self::end).
pub(crate) struct Announced {
    session: Session,
    key: String,
    encoding: Encoding,
    epoch: u64,
    /// In this order: nobody is told of it before it can be asked for.
    token: LivelinessToken,
    _asked: Queryable<()>,
}

impl Announced {
    /// Of what has this host, name and epoch. All else that others ask for is there already.
    pub(crate) fn declare(
        session: &Session,
        (host, name, epoch): (&str, &str, u64),
        described: &Description,
    ) -> zenoh::Result<Self> {
        let text = described.to_json();
        let answer = move |query: Query| {
            let ack = query.attachment().and_then(|ack| Ack::of_bytes(&ack.to_bytes()));
            if ack.is_none_or(|ack| ack.epoch == epoch) {
                let reply = query.reply(query.key_expr().clone(), text.as_str());
                // (Without an answer, it is asked again.)
                _ = reply.encoding(Encoding::APPLICATION_JSON).wait();
            }
        };
        let asked = session.declare_queryable(keys::description(host, name)).callback(answer).wait()?;
        let token = session.liveliness().declare_token(keys::ring_token(host, name, epoch)).wait()?;
        let (session, key, encoding) = (session.clone(), keys::messages(host, name), described.encoding());
        Ok(Self { session, key, encoding, epoch, token, _asked: asked })
    }

    /// It has ended, and the others are told. (A bridge that can't be reached finds no token when it can.)
    pub(crate) fn end(self) {
        let frame = Frame { epoch: self.epoch, first: 0, after: 0, ends: true, is_one: false };
        let put = self.session.put(&self.key, Vec::<u8>::new());
        let put = put.congestion_control(CongestionControl::Block).encoding(self.encoding.clone());
        _ = put.attachment(frame.to_bytes().as_slice()).wait();
        drop(self.token);
    }
}
