//! Visits the values of a line as its parser finds them.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Looking, Member, Members, Number, Shape};

/// The line as a whole.
pub(super) struct Values<'a> {
    members: &'a mut Members,
    looking: &'a Looking<'a>,
}

impl<'a> Values<'a> {
    pub(super) fn new(members: &'a mut Members, looking: &'a Looking) -> Values<'a> {
        Values { members, looking }
    }

    pub(super) fn read<'de, D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        let Values { members, looking } = self;
        json.deserialize_map(Object { members, looking, path: None })
    }
}

/// The path of a value: its name, and the path of the object or array that contains it.
#[derive(Clone, Copy)]
struct Path<'a> {
    name: &'a str,
    outer: Option<&'a Path<'a>>,
}

impl Path<'_> {
    fn push_to(&self, text: &mut String) {
        if let Some(outer) = self.outer {
            outer.push_to(text);
            text.push('.');
        }
        text.push_str(self.name);
    }
}

impl Looking<'_> {
    fn fail<E: Error>(&self, path: &Path<'_>, what: &str) -> E {
        let mut name = String::new();
        path.push_to(&mut name);
        self.fault.borrow_mut().get_or_insert(format!("the member {name} {what}"));
        E::custom(what)
    }
}

struct Object<'a> {
    members: &'a mut Members,
    looking: &'a Looking<'a>,
    path: Option<&'a Path<'a>>,
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Object { members, looking, path } = self;
        members.objects += 1;
        while let Some(at) = map.next_key_seed(Name { members: &mut *members, looking, path })? {
            let uris = members.uris_in(&members.fields[at].name).to_owned();
            let Member { name, shape, .. } = &mut members.fields[at];
            let path = Path { name, outer: path };
            map.next_value_seed(Value { shape, looking, path: &path, uris: &uris })?;
        }
        Ok(())
    }
}

/// The name of a member; returns its number.
struct Name<'a> {
    members: &'a mut Members,
    looking: &'a Looking<'a>,
    path: Option<&'a Path<'a>>,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<usize, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let Name { members, looking, path } = self;
        let at = members.member(name, looking);
        at.map_err(|what| looking.fail(&Path { name, outer: path }, &what))
    }
}

/// The value of a member, or of an array.
struct Value<'a> {
    shape: &'a mut Shape,
    looking: &'a Looking<'a>,
    path: &'a Path<'a>,
    /// The path to the URIs from here on, if they are in this value.
    uris: &'a str,
}

impl Value<'_> {
    fn unite<E: Error>(&mut self, shape: Shape) -> Result<(), E> {
        let done = self.shape.unite(shape, self.looking.is_fixed);
        done.map_err(|what| self.looking.fail(self.path, &what))
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(mut self, _: bool) -> Result<(), E> {
        self.unite(Shape::Bool)
    }

    fn visit_i64<E: Error>(mut self, number: i64) -> Result<(), E> {
        self.unite(Shape::Number(Number::whole(number.unsigned_abs(), number < 0)))
    }

    fn visit_u64<E: Error>(mut self, number: u64) -> Result<(), E> {
        self.unite(Shape::Number(Number::whole(number, false)))
    }

    fn visit_f64<E: Error>(mut self, number: f64) -> Result<(), E> {
        // In the column of URIs, numbers are taken as they are written.
        if !matches!(self.shape, Shape::Uri)
            && let Some(loss) = self.looking.loss(number)
        {
            return Err(self.looking.fail(self.path, loss.what()));
        }
        self.unite(Shape::Number(Number { has_fractions: true, ..Number::default() }))
    }

    fn visit_str<E: Error>(mut self, _: &str) -> Result<(), E> {
        self.unite(Shape::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.unite(Shape::List(Box::default()))?;
        let Value { shape, looking, path, .. } = self;
        let Shape::List(shape) = shape else { return Ok(()) };
        while items.next_element_seed(Value { shape, looking, path, uris: "" })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.unite(Shape::Object(Members::new(self.uris)))?;
        let Value { shape, looking, path, .. } = self;
        let Shape::Object(members) = shape else { return Ok(()) };
        Object { members, looking, path: Some(path) }.visit_map(map)
    }
}
