//! What generated code would have from prost: how messages become bytes.

use bytes::{Buf, BufMut};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Messages are text.
#[derive(Clone, Copy)]
pub struct Text;

impl Codec for Text {
    type Encode = String;
    type Decode = String;
    type Encoder = Text;
    type Decoder = Text;

    fn encoder(&mut self) -> Text {
        Text
    }

    fn decoder(&mut self) -> Text {
        Text
    }
}

impl Encoder for Text {
    type Item = String;
    type Error = Status;

    fn encode(&mut self, item: String, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buf.put_slice(item.as_bytes());
        Ok(())
    }
}

impl Decoder for Text {
    type Item = String;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<String>, Status> {
        let bytes = buf.copy_to_bytes(buf.remaining());
        let text = String::from_utf8(bytes.into());
        text.map(Some).map_err(|error| Status::invalid_argument(error.to_string()))
    }
}
