//! Questions on a terminal.

use std::io::{BufRead, Write};

use clap::ValueEnum as _;

use super::Request;
use crate::args::{Frame, NewArguments, length, mass};
use crate::exit::{Exit, Failure};

/// Completes the given answers by asking for the others, each until it is valid.
///
/// # Errors
/// The input ends before everything is known.
pub fn complete(
    given: &NewArguments,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> Result<Request, Failure> {
    let mut ask = Ask { input, out };
    let names: Vec<String> = (Frame::value_variants().iter())
        .map(|frame| frame.name())
        .collect();
    let names = names.join(", ");
    let read = |answer: &str| {
        Frame::from_str(answer, true).map_err(|_| format!("expected one of {names}"))
    };
    let frame = match given.frame {
        Some(frame) => frame,
        None => ask.until(&format!("Frame ({names}): "), read)?,
    };
    let mass_given = match (given.mass, &given.urdf) {
        (Some(mass), _) => Some(mass),
        (None, Some(_)) => None,
        (None, None) => Some(ask.until("Take-off mass, kg: ", mass)?),
    };
    let arm_length = match given.arm_length {
        Some(length) => length,
        None => ask.until(
            "Length of an arm, from the centre to the axis of its rotors, m: ",
            length,
        )?,
    };
    Ok(Request {
        frame,
        mass: mass_given,
        arm_length,
        thrust: given.thrust,
    })
}

struct Ask<'a, I, O> {
    input: &'a mut I,
    out: &'a mut O,
}

impl<I: BufRead, O: Write> Ask<'_, I, O> {
    /// Asks until the answer is valid.
    fn until<T>(
        &mut self,
        question: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        loop {
            write!(self.out, "{question}").and_then(|()| self.out.flush())?;
            let mut answer = String::new();
            if self.input.read_line(&mut answer)? == 0 {
                return Err(Failure::new(
                    Exit::Usage,
                    "nothing was created: the input ended before all questions were answered",
                ));
            }
            match read(answer.trim()) {
                Ok(value) => return Ok(value),
                Err(expected) => writeln!(self.out, "  {expected}")?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::AsData;

    fn given() -> NewArguments {
        NewArguments {
            name: None,
            frame: None,
            mass: None,
            arm_length: None,
            thrust: None,
            urdf: None,
            data: AsData::default(),
        }
    }

    #[test]
    fn what_is_missing_is_asked_for_until_it_can_be_used() {
        let mut out = Vec::new();
        let answers = "septocopter\nHexacopter\nheavy\n0\n1.5\n0.25\n";
        let request = complete(&given(), &mut answers.as_bytes(), &mut out).unwrap();
        assert_eq!(
            (request.frame, request.mass, request.arm_length),
            (Frame::Hexacopter, Some(1.5), 0.25)
        );
        let out = String::from_utf8(out).unwrap();
        assert_eq!(
            out.matches("expected one of quadcopter-x").count(),
            1,
            "{out}"
        );
        assert_eq!(
            out.matches("expected a mass from 0.01 to 1000 kg").count(),
            2,
            "{out}"
        );

        let known = NewArguments {
            frame: Some(Frame::Y6),
            mass: Some(2.0),
            arm_length: Some(0.2),
            ..given()
        };
        let mut out = Vec::new();
        complete(&known, &mut &b""[..], &mut out).unwrap();
        assert!(out.is_empty());
        assert!(complete(&given(), &mut &b"y6\n"[..], &mut out).is_err());
    }
}
