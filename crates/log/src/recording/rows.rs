//! A log as a table: a row per tick and a column per value, with its unit.

use std::path::{Path, PathBuf};

use fly_table::{Cell, Column, Kind};
use prost::Message as _;

use super::convert;
use super::survey::{Survey, Widths};
use super::{Kind as LogKind, Messages, Options, Recording, Stream};
use crate::Status;
use crate::error::LogError;
use crate::schema::{fly, foxglove};

const AXES: [&str; 3] = ["x", "y", "z"];
const QUATERNION: [&str; 4] = ["w", "x", "y", "z"];

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Flight time, ns.
    pub time: u64,
    /// A cell for each column.
    pub cells: Vec<Cell>,
}

/// Reads the ticks of a log of this program, or of a PX4 ULog, as rows of a table, one after the other: a log of any length takes little memory.
///
/// Numbers are those of the log, bit for bit. A cell is [`Cell::Null`] where the log has nothing in this tick. Left out are the events of `/log`, and what only
/// repeats other topics for viewers (`/pose`, `/tf`, `/truth/*`).
///
/// | columns | what |
/// |---|---|
/// | `time`, `time_ns` | flight time, s; time of the backend's clock, ns |
/// | `fresh` | whether the backend had new data |
/// | such as `pose.position.x` | the signals of the backend; `stamp.GROUP` and `valid.GROUP` of their groups |
/// | `state.*`, `reference.*` | the state that the controller used, and what it should have been |
/// | `system.*`, `system_reference.*` | the same of a system of several bodies, in the coordinates of its model |
/// | `control.*` | the controller's step: errors, inputs, energies |
/// | such as `command.rotor.0.thrust` | what was sent |
/// | `estimate.*` | what an estimator made of the sensors |
/// | such as `motor.0` | of a ULog: thrust by the largest one; `stamp.motor`, `valid.motor` |
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    columns: Vec<Column>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Own(Box<Own>),
    Ulog(Box<Recording<Stream>>),
}

impl Rows {
    /// Opens a log. One of this program is read once to learn its columns.
    ///
    /// # Errors
    /// As [`Survey::of`] and [`Recording::stream`].
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, LogError> {
        let path = path.as_ref();
        match LogKind::of(path)? {
            LogKind::Own => {
                let survey = Survey::of(path, options)?;
                if let (Some(fault), false) =
                    (survey.damage.faults.first(), options.allow_truncated)
                {
                    return Err(fault.refuse(path, survey.before_damage));
                }
                Self::of_survey(path, &survey, options)
            }
            LogKind::Ulog => Self::of_recording(Recording::stream(path, options)?),
        }
    }

    /// Reads a log of this program that has been surveyed, however damaged it is.
    ///
    /// # Errors
    /// As [`Messages::open`].
    pub fn of_survey(path: &Path, survey: &Survey, options: &Options) -> Result<Self, LogError> {
        let messages = Messages::open(path, options)?;
        let (columns, places) = own_columns(&messages, survey);
        Ok(Self {
            path: path.into(),
            source: Source::Own(Box::new(Own {
                cells: vec![Cell::Null; columns.len()],
                places,
                row: None,
                messages,
            })),
            columns,
        })
    }

    /// Reads a ULog.
    ///
    /// # Errors
    /// None today.
    pub fn of_recording(recording: Recording<Stream>) -> Result<Self, LogError> {
        let mut columns = first_columns();
        let description = &recording.description;
        columns.extend((description.signals.iter()).map(of_signal));
        columns.extend(of_groups(description.groups.iter().map(String::as_str)));
        let motors = recording.motors.as_ref().map_or(0, |motors| motors.count);
        columns.extend((0..motors).map(|i| Column::new(convert::motor(i), Kind::Float, "1")));
        columns.extend(of_groups(recording.motors.iter().map(|_| convert::MOTOR)));
        Ok(Self {
            path: recording.path.clone(),
            columns,
            source: Source::Ulog(Box::new(recording)),
        })
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column with the time stamps of a sensor's column: its value is new in the rows in which its stamp is. `None` for
    /// other columns.
    pub fn stamp_of(&self, column: usize) -> Option<usize> {
        let signal = column.checked_sub(FIRST)?;
        let (groups, group) = match &self.source {
            Source::Own(own) => {
                let (_, signal) = own.messages.signals.get(signal)?;
                (own.places.groups, signal.group?)
            }
            Source::Ulog(recording) => {
                let signals = &recording.description.signals;
                (FIRST + signals.len(), signals.get(signal)?.group?)
            }
        };
        Some(groups + group).filter(|stamp| *stamp < self.columns.len())
    }

    /// Returns the next row; `None` after the last one.
    ///
    /// # Errors
    /// [`LogError::Open`] if the file cannot be read any more, [`LogError::Message`] for a message that does not match
    /// its topic.
    pub fn read(&mut self) -> Result<Option<Row>, LogError> {
        match &mut self.source {
            Source::Own(own) => own.read(&self.path),
            Source::Ulog(recording) => read_ulog(recording, self.columns.len()),
        }
    }

    /// Damaged parts that were skipped so far, one line each.
    pub fn skipped(&self) -> Vec<String> {
        match &self.source {
            Source::Own(own) => own.messages.skipped(),
            Source::Ulog(recording) => recording.skipped.clone(),
        }
    }
}

/// Number of columns before the signals.
const FIRST: usize = 3;

fn first_columns() -> Vec<Column> {
    vec![
        Column::new("time", Kind::Float, "s"),
        Column::new("time_ns", Kind::Integer, "ns"),
        Column::new("fresh", Kind::Boolean, ""),
    ]
}

fn of_signal(signal: &fly_hal::Signal) -> Column {
    Column::new(signal.name.clone(), Kind::Float, signal.unit.clone())
}

fn of_groups<'a>(
    groups: impl IntoIterator<Item = &'a str> + Clone,
) -> impl Iterator<Item = Column> {
    let stamps = groups.clone().into_iter();
    let stamps = stamps.map(|group| Column::new(format!("stamp.{group}"), Kind::Integer, "ns"));
    let valid = groups.into_iter();
    let valid = valid.map(|group| Column::new(format!("valid.{group}"), Kind::Boolean, ""));
    stamps.chain(valid)
}

/// Index of each topic's first column in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    groups: usize,
    state: usize,
    reference: usize,
    system: usize,
    system_reference: usize,
    control: usize,
    command: usize,
    estimate: usize,
    widths: Widths,
}

/// Columns, added group by group.
#[derive(Default)]
struct Columns(Vec<Column>);

impl Columns {
    fn add(&mut self, name: &str, kind: Kind, unit: &'static str) {
        self.0.push(Column::new(name, kind, unit));
    }

    fn parts(&mut self, name: &str, parts: &[&str], unit: &'static str) {
        for part in parts {
            self.add(&format!("{name}.{part}"), Kind::Float, unit);
        }
    }

    fn numbered(&mut self, name: &str, count: usize, unit: &'static str) {
        for i in 0..count {
            self.add(&format!("{name}.{i}"), Kind::Float, unit);
        }
    }

    /// Pose and twist.
    fn motion(&mut self, name: &str) {
        self.parts(&format!("{name}.position"), &AXES, "m");
        self.parts(&format!("{name}.attitude"), &QUATERNION, "1");
        self.parts(&format!("{name}.velocity"), &AXES, "m/s");
        self.parts(&format!("{name}.angular_velocity"), &AXES, "rad/s");
    }

    fn control(&mut self, [u0, u, disturbance]: [usize; 3]) {
        self.add("control.mode", Kind::Text, "");
        self.parts("control.position_error", &AXES, "m");
        self.add("control.position_error_norm", Kind::Float, "m");
        self.add("control.attitude_error", Kind::Float, "rad");
        self.numbered("control.u0", u0, "");
        self.numbered("control.u", u, "");
        self.add("control.kinetic_energy", Kind::Float, "J");
        self.add("control.potential_energy", Kind::Float, "J");
        self.add("control.dissipation", Kind::Float, "W");
        self.add("control.total_energy", Kind::Float, "J");
        self.add("control.active_limits", Kind::Integer, "");
        self.add("control.saturated", Kind::Boolean, "");
        self.add("control.solver", Kind::Text, "");
        self.add("control.iterations", Kind::Integer, "");
        self.add("control.energy_rate", Kind::Float, "W");
        self.add("control.expected_energy_rate", Kind::Float, "W");
        self.numbered("control.disturbance", disturbance, "");
        self.add("control.thrust_scale", Kind::Float, "1");
    }

    fn estimate(&mut self, innovations: usize) {
        self.motion("estimate");
        for (name, unit) in [
            ("gyro_bias", "rad/s"),
            ("accelerometer_bias", "m/s^2"),
            ("attitude_deviation", "rad"),
            ("velocity_deviation", "m/s"),
            ("position_deviation", "m"),
            ("gyro_bias_deviation", "rad/s"),
            ("accelerometer_bias_deviation", "m/s^2"),
        ] {
            self.parts(&format!("estimate.{name}"), &AXES, unit);
        }
        self.numbered("estimate.innovation", innovations, "1");
    }
}

fn own_columns(messages: &Messages, survey: &Survey) -> (Vec<Column>, Places) {
    let widths = survey.widths;
    let has = |topic: &str| survey.topic(topic).is_some();
    let mut columns = Columns(first_columns());
    columns
        .0
        .extend((messages.signals.iter()).map(|(_, signal)| of_signal(signal)));
    let mut places = Places {
        groups: columns.0.len(),
        widths,
        ..Places::default()
    };
    columns
        .0
        .extend(of_groups(messages.groups.iter().map(String::as_str)));
    places.state = columns.0.len();
    if has("/fly/state") {
        columns.motion("state");
    }
    places.reference = columns.0.len();
    if has("/fly/reference") {
        columns.motion("reference");
        columns.parts("reference.acceleration", &AXES, "m/s^2");
        columns.parts("reference.angular_acceleration", &AXES, "rad/s^2");
    }
    places.system = columns.0.len();
    columns.numbered("system.configuration", widths.system[0], "");
    columns.numbered("system.velocity", widths.system[1], "");
    places.system_reference = columns.0.len();
    let [configuration, velocity, acceleration] = widths.system_reference;
    columns.numbered("system_reference.configuration", configuration, "");
    columns.numbered("system_reference.velocity", velocity, "");
    columns.numbered("system_reference.acceleration", acceleration, "");
    places.control = columns.0.len();
    if has("/fly/control") {
        columns.control(widths.control);
    }
    places.command = columns.0.len();
    columns.0.extend(messages.commands.iter().map(|signal| {
        let name = format!("command.{}", signal.name);
        Column::new(name, Kind::Float, signal.unit.clone())
    }));
    places.estimate = columns.0.len();
    if has("/fly/estimate") {
        columns.estimate(widths.innovations);
    }
    (columns.0, places)
}

/// A log of this program.
#[derive(Debug)]
struct Own {
    messages: Messages,
    places: Places,
    /// The row under construction.
    cells: Vec<Cell>,
    /// Its flight time; `None` before the first frame.
    row: Option<u64>,
}

impl Own {
    fn read(&mut self, path: &Path) -> Result<Option<Row>, LogError> {
        // Borrowed separately, because a message borrows the reader.
        let Self {
            messages,
            places,
            cells,
            row,
        } = self;
        let signals: Vec<usize> = messages.signals.iter().map(|(place, _)| *place).collect();
        let groups = messages.groups.len();
        let commands = messages.commands.len();
        let wrong = |topic: &str, found: String| LogError::Message {
            path: path.into(),
            topic: topic.to_owned(),
            found,
        };
        while let Some(message) = messages.read()? {
            let (topic, data) = (message.topic, message.data);
            let broken = |error: prost::DecodeError| wrong(topic, error.to_string());
            if topic == "/fly/frame" {
                let frame = fly::Frame::decode(data).map_err(broken)?;
                let count = cells.len();
                let before = std::mem::replace(cells, vec![Cell::Null; count]);
                let done = row.replace(message.time);
                begin(cells, &frame, message.time, &signals, places.groups, groups);
                if let Some(time) = done {
                    let cells = before;
                    return Ok(Some(Row { time, cells }));
                }
                continue;
            }
            // Nothing is known of a tick whose frame is damaged.
            if *row != Some(message.time) {
                continue;
            }
            let Places { widths, .. } = *places;
            match topic {
                "/fly/state" => {
                    let state = fly::Motion::decode(data).map_err(broken)?;
                    put(cells, places.state, motion(&state));
                }
                "/fly/reference" => {
                    let reference = fly::Motion::decode(data).map_err(broken)?;
                    let rates = [reference.acceleration, reference.angular_acceleration];
                    let rates = rates.into_iter().flat_map(three);
                    put(cells, places.reference, motion(&reference).chain(rates));
                }
                "/fly/system/state" => {
                    let motion = fly::SystemMotion::decode(data).map_err(broken)?;
                    let at = fill(
                        cells,
                        places.system,
                        &motion.configuration,
                        widths.system[0],
                    );
                    fill(cells, at, &motion.velocity, widths.system[1]);
                }
                "/fly/system/reference" => {
                    let motion = fly::SystemMotion::decode(data).map_err(broken)?;
                    let [configuration, velocity, acceleration] = widths.system_reference;
                    let at = places.system_reference;
                    let at = fill(cells, at, &motion.configuration, configuration);
                    let at = fill(cells, at, &motion.velocity, velocity);
                    fill(cells, at, &motion.acceleration, acceleration);
                }
                "/fly/control" => {
                    let control = fly::Control::decode(data).map_err(broken)?;
                    put_control(cells, places.control, control, widths.control);
                }
                "/fly/command" => {
                    let command = fly::Command::decode(data).map_err(broken)?;
                    fill(cells, places.command, &command.values, commands);
                }
                "/fly/estimate" => {
                    let estimate = fly::Estimate::decode(data).map_err(broken)?;
                    put_estimate(cells, places.estimate, &estimate, widths.innovations);
                }
                _ => {}
            }
        }
        Ok(row.take().map(|time| Row {
            time,
            cells: std::mem::take(cells),
        }))
    }
}

/// Begins the row of a frame.
fn begin(
    cells: &mut [Cell],
    frame: &fly::Frame,
    time: u64,
    signals: &[usize],
    at: usize,
    groups: usize,
) {
    cells[0] = Cell::Float(time as f64 / 1e9);
    cells[1] = Cell::Integer(frame.time_ns);
    cells[2] = Cell::Boolean(frame.status() == fly::frame::Status::Fresh);
    for (cell, &place) in cells[FIRST..].iter_mut().zip(signals) {
        *cell = frame
            .values
            .get(place)
            .map_or(Cell::Null, |v| Cell::Float(*v));
    }
    for (cell, stamp) in cells[at..at + groups].iter_mut().zip(&frame.stamps_ns) {
        *cell = Cell::Integer(*stamp);
    }
    let at = at + groups;
    for (cell, valid) in cells[at..at + groups].iter_mut().zip(&frame.valid) {
        *cell = Cell::Boolean(*valid);
    }
}

/// Writes cells from index `at` on; cells that do not fit are dropped.
fn put(cells: &mut [Cell], at: usize, values: impl Iterator<Item = Cell>) {
    for (cell, value) in cells.iter_mut().skip(at).zip(values) {
        *cell = value;
    }
}

/// Writes as many values as there are columns for, and returns the index after them.
fn fill(cells: &mut [Cell], at: usize, values: &[f64], width: usize) -> usize {
    put(
        cells,
        at,
        values.iter().take(width).map(|v| Cell::Float(*v)),
    );
    at + width
}

fn three(vector: Option<foxglove::Vector3>) -> [Cell; 3] {
    vector.map_or([const { Cell::Null }; 3], |v| {
        [v.x, v.y, v.z].map(Cell::Float)
    })
}

fn four(attitude: Option<foxglove::Quaternion>) -> [Cell; 4] {
    attitude.map_or([const { Cell::Null }; 4], |q| {
        [q.w, q.x, q.y, q.z].map(Cell::Float)
    })
}

fn motion(motion: &fly::Motion) -> impl Iterator<Item = Cell> + use<> {
    let twist = [motion.velocity, motion.angular_velocity];
    let pose = three(motion.position)
        .into_iter()
        .chain(four(motion.attitude));
    pose.chain(twist.into_iter().flat_map(three))
}

fn put_control(cells: &mut [Cell], at: usize, control: fly::Control, widths: [usize; 3]) {
    let float = |value: Option<f64>| value.map_or(Cell::Null, Cell::Float);
    let floats = |values: Vec<f64>, width: usize| {
        let rest = std::iter::repeat_with(|| Cell::Null);
        values.into_iter().map(Cell::Float).chain(rest).take(width)
    };
    let errors = [control.position_error_norm, control.attitude_error].map(Cell::Float);
    let energies = [
        control.kinetic_energy,
        control.potential_energy,
        control.dissipation,
        control.total_energy,
    ];
    let rates = [control.energy_rate, control.expected_energy_rate].map(float);
    let all = [Cell::Text(control.mode)]
        .into_iter()
        .chain(three(control.position_error))
        .chain(errors)
        .chain(floats(control.u0, widths[0]))
        .chain(floats(control.u, widths[1]))
        .chain(energies.map(float))
        .chain([
            Cell::Integer(control.active_limits.into()),
            Cell::Boolean(control.saturated),
            Cell::Text(control.solver),
            Cell::Integer(control.iterations.into()),
        ])
        .chain(rates)
        .chain(floats(control.disturbance, widths[2]))
        .chain([float(control.thrust_scale)]);
    put(cells, at, all);
}

fn put_estimate(cells: &mut [Cell], at: usize, estimate: &fly::Estimate, innovations: usize) {
    let vectors = [
        estimate.velocity,
        estimate.angular_velocity,
        estimate.gyro_bias,
        estimate.accelerometer_bias,
        estimate.attitude_deviation,
        estimate.velocity_deviation,
        estimate.position_deviation,
        estimate.gyro_bias_deviation,
        estimate.accelerometer_bias_deviation,
    ];
    let pose = three(estimate.position)
        .into_iter()
        .chain(four(estimate.attitude));
    let last = estimate.innovations.iter().take(innovations);
    let all = pose.chain(vectors.into_iter().flat_map(three));
    put(cells, at, all.chain(last.map(|v| Cell::Float(*v))));
}

fn read_ulog(recording: &mut Recording<Stream>, width: usize) -> Result<Option<Row>, LogError> {
    let start = recording.frames.first();
    let frame = recording.frames.read();
    let frame = frame.map_err(|source| LogError::Open {
        path: recording.path.clone(),
        source,
    })?;
    Ok(frame.map(|frame| {
        let time = u64::try_from(frame.time.saturating_sub(start)).unwrap_or(0);
        let mut cells = Vec::with_capacity(width);
        cells.push(Cell::Float(time as f64 / 1e9));
        cells.push(Cell::Integer(frame.time));
        cells.push(Cell::Boolean(frame.status == Status::Fresh));
        cells.extend(frame.values.iter().map(|v| Cell::Float(*v)));
        cells.extend(frame.groups.iter().map(|group| Cell::Integer(group.stamp)));
        cells.extend(frame.groups.iter().map(|group| Cell::Boolean(group.valid)));
        cells.extend(frame.motors.iter().map(|v| Cell::Float(*v)));
        let status = convert::motors_status(&frame);
        let status = status.map(|group| [Cell::Integer(group.stamp), Cell::Boolean(group.valid)]);
        cells.extend(status.into_iter().flatten());
        Row { time, cells }
    }))
}
