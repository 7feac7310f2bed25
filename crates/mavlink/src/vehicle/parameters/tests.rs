//! Against a peer that loses, repeats and refuses messages.

use super::*;
use ParameterValue as V;
use fly_testing::Random;

/// A table of parameters behind a lossy link.
struct Peer {
    table: Vec<(String, V)>,
    encoding: Encoding,
    read_only: bool,
    /// Percentage of messages lost in either direction.
    loses: u64,
    random: Random,
    sets: usize,
}

impl Peer {
    fn new(encoding: Encoding) -> Self {
        let mut table: Vec<_> = (0..10_i16)
            .map(|i| (format!("P{i}"), V::F32(f32::from(i) / 3.0)))
            .collect();
        table[7] = ("COM_RC_IN_MODE".to_owned(), V::I32(-1));
        table[8] = ("SIXTEEN_LETTERS_".to_owned(), V::I32(3));
        Self {
            table,
            encoding,
            read_only: false,
            loses: 0,
            random: Random::new(0x2545_f491_4f6c_dd1d),
            sets: 0,
        }
    }

    fn loses(&mut self) -> bool {
        self.random.below(100) < self.loses
    }

    fn value(&self, index: usize, listed: bool) -> PARAM_VALUE_DATA {
        let (name, value) = &self.table[index];
        PARAM_VALUE_DATA {
            param_value: value.encode(self.encoding).unwrap(),
            param_count: u16::try_from(self.table.len()).unwrap(),
            param_index: if listed {
                u16::try_from(index).unwrap()
            } else {
                u16::MAX
            },
            param_id: CharArray::from(name.as_str()),
            param_type: value.kind(),
        }
    }

    fn answer(&mut self, message: &MavMessage) -> Option<PARAM_VALUE_DATA> {
        let find = |table: &[(String, V)], id: &CharArray<16>| {
            table
                .iter()
                .position(|(name, _)| name == id.to_str().unwrap())
        };
        match message {
            MavMessage::PARAM_REQUEST_READ(m) => {
                assert_eq!(m.param_index, -1, "by its name");
                find(&self.table, &m.param_id).map(|index| self.value(index, true))
            }
            MavMessage::PARAM_SET(m) => {
                self.sets += 1;
                let index = find(&self.table, &m.param_id).unwrap();
                if !self.read_only {
                    self.table[index].1 =
                        V::decode(m.param_value, m.param_type, self.encoding).unwrap();
                }
                Some(self.value(index, false))
            }
            other => panic!("{other:?}"),
        }
    }

    /// Runs both until it ends; returns the outcome and when it ended, in ms.
    fn run(&mut self, parameters: &mut Parameters, ticket: Ticket) -> (ParameterOutcome, i64) {
        for ms in 0..60_000 {
            let mut sent = Vec::new();
            parameters.poll(ms * MS, |message, _| {
                sent.push(message);
                true
            });
            for message in sent {
                if self.loses() {
                    continue;
                }
                if let Some(value) = self.answer(&message)
                    && !self.loses()
                {
                    parameters.take(&value, ms * MS);
                }
            }
            let outcome = parameters.outcome(ticket);
            if outcome.is_final() {
                return (outcome, ms);
            }
        }
        panic!("it does not end: {:?}", parameters.outcome(ticket));
    }
}

const FAR: i64 = 50_000 * MS;

fn both() -> [Encoding; 2] {
    [Encoding::Bytewise, Encoding::CCast]
}

#[test]
fn one_is_read_whatever_is_lost() {
    for encoding in both() {
        for loses in [0, 1, 5, 20, 50] {
            let mut peer = Peer {
                loses,
                ..Peer::new(encoding)
            };
            let mut parameters = Parameters::new((1, 1), encoding);
            let read = parameters.read("P5", 0, FAR).unwrap();
            let (outcome, _) = peer.run(&mut parameters, read);
            assert_eq!(outcome, ParameterOutcome::Value(V::F32(5.0 / 3.0)));
        }
    }
}

#[test]
fn one_is_set_and_read_back() {
    for encoding in both() {
        for loses in [0, 20, 50] {
            let mut peer = Peer {
                loses,
                ..Peer::new(encoding)
            };
            let mut parameters = Parameters::new((1, 1), encoding);
            let set = parameters
                .set("SIXTEEN_LETTERS_", V::I32(16_000_000), 0, FAR)
                .unwrap();
            let (outcome, _) = peer.run(&mut parameters, set);
            assert_eq!(outcome, ParameterOutcome::Set { before: V::I32(3) });
            assert_eq!(peer.table[8].1, V::I32(16_000_000));
            assert_eq!(peer.table[7].1, V::I32(-1), "no other");
        }
    }
}

#[test]
fn a_vehicle_that_keeps_its_value_is_told_from_one_that_takes_it() {
    let mut peer = Peer {
        read_only: true,
        ..Peer::new(Encoding::CCast)
    };
    let mut parameters = Parameters::new((1, 1), Encoding::CCast);
    let set = parameters.set("P9", V::F32(9.0), 0, FAR).unwrap();
    let (outcome, _) = peer.run(&mut parameters, set);
    assert_eq!(outcome, ParameterOutcome::NotApplied { has: V::F32(3.0) });
    assert_eq!(peer.sets, 3);
}

#[test]
fn another_type_sets_nothing() {
    let mut peer = Peer::new(Encoding::Bytewise);
    let mut parameters = Parameters::new((1, 1), Encoding::Bytewise);
    let set = parameters
        .set("COM_RC_IN_MODE", V::F32(4.0), 0, FAR)
        .unwrap();
    let (outcome, _) = peer.run(&mut parameters, set);
    assert_eq!(outcome, ParameterOutcome::WrongType { has: V::I32(-1) });
    assert_eq!(peer.sets, 0);
}

#[test]
fn what_nobody_answers_ends_in_time() {
    let mut peer = Peer {
        loses: 100,
        ..Peer::new(Encoding::CCast)
    };
    let mut parameters = Parameters::new((1, 1), Encoding::CCast);
    let read = parameters.read("P9", 0, 3_000 * MS).unwrap();
    assert_eq!(
        peer.run(&mut parameters, read),
        (ParameterOutcome::Expired, 3_001)
    );
}

#[test]
fn errors_of_the_vehicle_and_of_the_caller_are_told() {
    let mut parameters = Parameters::new((1, 1), Encoding::CCast);
    let read = parameters.read("NO_SUCH", 0, FAR).unwrap();
    parameters.take_error(&PARAM_ERROR_DATA {
        param_id: CharArray::from("NO_SUCH"),
        error: MavParamError::MAV_PARAM_ERROR_DOES_NOT_EXIST,
        ..PARAM_ERROR_DATA::default()
    });
    assert_eq!(
        parameters.outcome(read),
        ParameterOutcome::Refused(MavParamError::MAV_PARAM_ERROR_DOES_NOT_EXIST)
    );
    for name in ["", "SEVENTEEN_LETTERS", "grün", "A B"] {
        assert!(matches!(
            parameters.read(name, 0, FAR),
            Err(ParameterError::Name(_))
        ));
    }
    assert!(matches!(
        parameters.set("X", V::I32(16_777_217), 0, FAR),
        Err(ParameterError::Inexact(_))
    ));
    // Names that are not text are dropped.
    let odd = PARAM_VALUE_DATA {
        param_id: CharArray::from([0xff; 16]),
        ..PARAM_VALUE_DATA::default()
    };
    let waits = parameters.read("P9", 0, FAR).unwrap();
    parameters.take(&odd, 0);
    assert_eq!(parameters.outcome(waits), ParameterOutcome::Waiting);
}
