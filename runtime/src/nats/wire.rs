//! How asks and answers look on the wire: what programs decide by as headers, what people read as the body.

use std::sync::Arc;

use async_nats::{HeaderMap, Message};

use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};
use crate::mesh::StreamId;

const WHAT: &str = "Rideout-What";
const ADDRESS: &str = "Rideout-Address";
const STREAM: &str = "Rideout-Stream";
const VERSION: &str = "Rideout-Version";
const KIND: &str = "Rideout-Kind";
const ACTIVATION: &str = "Rideout-Activation";

/// The subjects of one mesh.
#[derive(Clone, Debug)]
pub(super) struct Subjects {
    mesh: String,
}

impl Subjects {
    pub(super) fn new(mesh: &str) -> Self {
        Self { mesh: mesh.to_owned() }
    }

    /// Where the activation at an address takes asks.
    pub(super) fn asks(&self, address: &Address) -> String {
        format!("{}.ask.{}", self.mesh, key_of(address))
    }

    /// Where it takes what nobody awaits.
    pub(super) fn tells(&self, address: &Address) -> String {
        format!("{}.tell.{}", self.mesh, key_of(address))
    }

    /// Where some host takes asks for an address without an activation.
    pub(super) fn wakes(&self) -> String {
        format!("{}.wake", self.mesh)
    }

    /// Where the frames of a stream go.
    pub(super) fn frames(&self, stream: &StreamId) -> String {
        format!("{}.frames.{stream}", self.mesh)
    }
}

/// The key of an address's node, in a bucket and in a subject: one token without wildcards.
pub(super) fn key_of(address: &Address) -> String {
    let mut key = String::with_capacity(address.path().len());
    for byte in address.path().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'_' | b'-' => key.push(char::from(byte)),
            _ => key.push_str(&format!("={byte:02X}")),
        }
    }
    key
}

/// The address behind a key; `None` for one that was not made here.
pub(super) fn address_of(key: &str) -> Option<Address> {
    let (mut text, mut rest) = (Vec::with_capacity(key.len()), key.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        rest = if first == b'=' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            text.push(u8::from_str_radix(digits, 16).ok()?);
            &after[2..]
        } else {
            text.push(first);
            after
        };
    }
    String::from_utf8(text).ok().map(Address::new)
}

/// What is asked of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Get,
    Subscribe(StreamId),
    Write(Arc<str>),
}

impl Ask {
    pub(super) fn encode(&self, address: &Address) -> (HeaderMap, Arc<str>) {
        let mut headers = HeaderMap::new();
        headers.insert(ADDRESS, key_of(address).as_str());
        let (what, body) = match self {
            Self::Get => ("Get", "".into()),
            Self::Subscribe(stream) => {
                headers.insert(STREAM, stream.as_str());
                ("Subscribe", "".into())
            }
            Self::Write(content) => ("Write", Arc::clone(content)),
        };
        headers.insert(WHAT, what);
        (headers, body)
    }

    pub(super) fn decode(message: &Message) -> Option<(Address, Self)> {
        let address = address_of(header(message, ADDRESS)?)?;
        let ask = match header(message, WHAT)? {
            "Get" => Self::Get,
            "Subscribe" => Self::Subscribe(StreamId::named(header(message, STREAM)?)),
            "Write" => Self::Write(body(message).into()),
            _ => return None,
        };
        Some((address, ask))
    }
}

/// What an owner is told, and nobody awaits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Heartbeat(StreamId),
    Unsubscribe(StreamId),
}

impl Told {
    pub(super) fn encode(&self) -> HeaderMap {
        let (what, stream) = match self {
            Self::Heartbeat(stream) => ("Heartbeat", stream),
            Self::Unsubscribe(stream) => ("Unsubscribe", stream),
        };
        let mut headers = HeaderMap::new();
        headers.insert(WHAT, what);
        headers.insert(STREAM, stream.as_str());
        headers
    }

    pub(super) fn decode(message: &Message) -> Option<Self> {
        let stream = StreamId::named(header(message, STREAM)?);
        match header(message, WHAT)? {
            "Heartbeat" => Some(Self::Heartbeat(stream)),
            "Unsubscribe" => Some(Self::Unsubscribe(stream)),
            _ => None,
        }
    }
}

/// An answer, and a frame: a version, who says so, and the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) version: u64,
    pub(super) activation: ActivationId,
    pub(super) content: Arc<str>,
}

impl Answer {
    pub(super) fn encode(&self) -> (HeaderMap, Arc<str>) {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION, self.version.to_string().as_str());
        headers.insert(ACTIVATION, self.activation.to_string().as_str());
        (headers, Arc::clone(&self.content))
    }
}

/// The headers and the body of an answer, of either sign.
pub(super) fn encode_answer(answer: &Result<Answer, DeliveryFailure>) -> (HeaderMap, Arc<str>) {
    match answer {
        Ok(answer) => answer.encode(),
        Err(failure) => {
            let mut headers = HeaderMap::new();
            headers.insert(KIND, failure.kind.as_str());
            if let Some(activation) = failure.activation {
                headers.insert(ACTIVATION, activation.to_string().as_str());
            }
            (headers, Arc::clone(&failure.message))
        }
    }
}

/// An answer or a frame. What is neither is a failure too: a peer that speaks otherwise promises nothing.
pub(super) fn decode_answer(message: &Message) -> Result<Answer, DeliveryFailure> {
    let activation = header(message, ACTIVATION).and_then(parse_activation);
    if let Some(kind) = header(message, KIND) {
        return Err(DeliveryFailure {
            kind: FailureKind::from_word(kind),
            message: body(message).into(),
            activation,
        });
    }
    let version = header(message, VERSION).and_then(|version| version.parse().ok());
    match (version, activation) {
        (Some(version), Some(activation)) => {
            Ok(Answer { version, activation, content: body(message).into() })
        }
        _ => Err(DeliveryFailure::new(FailureKind::Other, "an answer without a version or an activation")),
    }
}

/// The frame that carries no state, and tells its reader to ask again.
pub(super) fn ask_again() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(WHAT, "AskAgain");
    headers
}

pub(super) fn is_ask_again(message: &Message) -> bool {
    header(message, WHAT) == Some("AskAgain")
}

pub(super) fn parse_activation(text: &str) -> Option<ActivationId> {
    u32::from_str_radix(text, 16).ok().and_then(ActivationId::from_bits)
}

fn header<'a>(message: &'a Message, name: &str) -> Option<&'a str> {
    Some(message.headers.as_ref()?.get(name)?.as_str())
}

fn body(message: &Message) -> String {
    String::from_utf8_lossy(&message.payload).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nack::ShutdownNack;
    use crate::run_level::RunLevel;
    use proptest::prelude::*;

    fn message((headers, body): (HeaderMap, Arc<str>)) -> Message {
        Message {
            subject: "x".into(),
            reply: None,
            payload: body.as_bytes().to_vec().into(),
            headers: Some(headers),
            status: None,
            description: None,
            length: 0,
        }
    }

    #[test]
    fn a_refusal_crosses_the_wire_whole() {
        let (address, activation) = (Address::new("a b/c.d"), ActivationId::mint());
        let nack = ShutdownNack { address: &address, run_level: RunLevel::Dead, activation, what: "Get" };
        for failure in [DeliveryFailure::rejecting(&nack), DeliveryFailure::not_found(&address)] {
            let decoded = decode_answer(&message(encode_answer(&Err(failure.clone()))));
            assert_eq!(decoded, Err(failure));
        }
    }

    #[test]
    fn an_ask_and_its_answer_cross_the_wire_whole() {
        let address = Address::new("Tenant/Inst");
        for ask in [Ask::Get, Ask::Subscribe(StreamId::named("S1")), Ask::Write("content".into())] {
            assert_eq!(Ask::decode(&message(ask.encode(&address))), Some((address.clone(), ask)));
        }
        let answer = Answer { version: 7, activation: ActivationId::mint(), content: "é".into() };
        assert_eq!(decode_answer(&message(encode_answer(&Ok(answer.clone())))), Ok(answer));
    }

    proptest! {
        #[test]
        fn a_key_is_one_token_and_leads_back(path in "[^~]{1,40}") {
            let address = Address::new(path);
            let key = key_of(&address);
            prop_assert!(!key.contains(['.', '*', '>', ' ']));
            prop_assert_eq!(address_of(&key), Some(address));
        }
    }
}
