//! The shape of a value: `Option<Result<T>>`, `(Watch, Control)`, `redis::aio::PubSub`.

use serde::{Deserialize, Deserializer};

/// A type as the catalog writes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// The item of a stream (`T`), or anything else that does not matter.
    Item,
    /// The stream of the entry it stands in.
    Watch,
    /// A path with arguments.
    Named(String, Vec<Shape>),
    /// A tuple.
    Tuple(Vec<Shape>),
}

impl Shape {
    /// Reads a shape.
    ///
    /// # Errors
    ///
    /// Says what was expected and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0 };
        let shape = parser.shape()?;
        parser.skip_space();
        if parser.at == text.len() {
            Ok(shape)
        } else {
            Err(format!("unexpected text at {} in `{text}`", parser.at))
        }
    }

    /// Whether it is a `Result` at its outside.
    pub fn is_result(&self) -> bool {
        matches!(self, Self::Named(name, _) if name == "Result")
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: char) -> bool {
        self.skip_space();
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    fn list(&mut self, close: char) -> Result<Vec<Shape>, String> {
        let mut shapes = Vec::new();
        while !self.eat(close) {
            shapes.push(self.shape()?);
            if !self.eat(',') && !self.text[self.at..].trim_start().starts_with(close) {
                return Err(format!("expected `,` or `{close}` at {} in `{}`", self.at, self.text));
            }
        }
        Ok(shapes)
    }

    fn shape(&mut self) -> Result<Shape, String> {
        if self.eat('(') {
            return self.list(')').map(Shape::Tuple);
        }
        self.skip_space();
        let rest = &self.text[self.at..];
        let length =
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
        if length == 0 {
            return Err(format!("expected a type at {} in `{}`", self.at, self.text));
        }
        let name = rest[..length].to_owned();
        self.at += length;
        let arguments = if self.eat('<') { self.list('>')? } else { Vec::new() };
        Ok(match name.as_str() {
            "T" | "_" => Shape::Item,
            "Watch" => Shape::Watch,
            _ => Shape::Named(name, arguments),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn a_shape_nests() {
        let shape = Shape::parse("Result<(redis::aio::PubSub, Option<T>)>").unwrap();
        let inner = Shape::Tuple(vec![
            Shape::Named("redis::aio::PubSub".into(), vec![]),
            Shape::Named("Option".into(), vec![Shape::Item]),
        ]);
        assert_eq!(shape, Shape::Named("Result".into(), vec![inner]));
    }

    #[test]
    fn a_broken_shape_says_where() {
        assert_eq!(Shape::parse("Result<T"), Err("expected `,` or `>` at 8 in `Result<T`".to_owned()));
        assert!(Shape::parse("").is_err());
    }
}
